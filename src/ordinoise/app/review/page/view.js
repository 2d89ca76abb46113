// The display of one row and of the list of rows.

import { clock, compact, fill, find, make, percent, plural } from "./dom.js";
import { get } from "./wire.js";

const MARKS = { open: "○", settled: "✓", skipped: "–", pending: "…", disputed: "≠" };

export class View {
  constructor(model, queue, { onChoose, onOpen }) {
    Object.assign(this, { model, queue, onChoose, onOpen });
    find("history").addEventListener("toggle", () => this.history());
  }

  row() {
    const { model } = this;
    const item = model.byRow.get(model.current);
    find("row").hidden = !item;
    find("empty").hidden = Boolean(item);
    if (!item) return;
    const place = model.view.indexOf(item.row) + 1;
    const { is_ratings: isRatings } = model.audit;
    find("row-title").textContent = model.title(item.row);
    find("row-place").textContent = `${place} of ${model.view.length} · ${item.plan ?? (isRatings ? `no. ${item.rank} to read again` : `suspect no. ${item.rank}`)}`;
    const isJudged = Boolean(item.recorded);
    fill(find("row-probability"), ...(isJudged ? doubtful(item, isRatings) : []));
    find("why-title").textContent = isJudged ? (isRatings ? "Who gave what" : "Why suspicious") : "Why this row";
    fill(find("why"), ...item.reasons.map((words) => make("p", {}, words)), ...speaking(item, this.model.audit.columns));
    this.evidence(item);
    this.judgement();
    find("history").open = false;
    this.note();
  }

  note() {
    const { current, reviewer } = this.model;
    this.shownNote = this.queue.noteOn(current, reviewer) ?? this.model.myNote(current);
    find("note").value = this.shownNote;
  }

  /** The parts that change with a decision: grades, decisions of reviewers, notes of others. */
  judgement() {
    const item = this.model.byRow.get(this.model.current);
    if (!item) return;
    const state = this.model.state(item.row);
    find("bars").hidden = (item.posterior ?? item.graded).length === 0; // of a blind row nothing is shown
    fill(find("ladder"), ...this.model.audit.classes.map((grade, rank) => this.rung(item, state, grade, rank)));
    this.verdicts(state);
    const others = state.notes.filter(([name]) => name !== this.model.reviewer);
    fill(find("other-notes"), ...others.map(([name, note]) => make("p", { class: "other-note" }, make("strong", {}, name), ` ${note}`)));
    if (find("history").open) this.history();
  }

  rung(item, state, grade, rank) {
    const { audit } = this.model;
    const [key, share] = [audit.keys[rank], (item.posterior ?? item.graded)[rank]];
    const waiting = this.queue.decisionOn(item.row);
    const isWaiting = waiting?.body.grade === grade;
    const isChosen = !waiting && state.status === "settled" && state.grade === grade;
    const tags = [];
    if (audit.is_ratings) tags.push(...given(item, grade));
    if (audit.is_ratings && grade === item.recorded) tags.push(["suggested", "consensus"]);
    if (!audit.is_ratings && grade === item.recorded) tags.push(["recorded", "recorded"]);
    if (!audit.is_ratings && grade === item.suggested) tags.push(["suggested", "suggested"]);
    if (isChosen) tags.push(["chosen", "chosen"]);
    if (isWaiting) tags.push(["waiting", "not saved yet"]);
    const roles = [grade === item.recorded && !audit.is_ratings ? "is-recorded" : "", grade === item.suggested ? "is-suggested" : ""];
    const bar = make("span", { class: "bar" }, share === undefined ? "" : make("span", { class: "bar-fill" }));
    if (share !== undefined) bar.firstChild.style.width = `${100 * share}%`;
    const shown = share === undefined ? "" : percent(share);
    const words = [grade, shown, ...tags.map(([, word]) => word), key ? `key ${key}` : ""].filter(Boolean);
    return make(
      "button",
      {
        type: "button",
        class: `rung ${roles.join(" ")} ${isChosen ? "is-chosen" : ""} ${isWaiting ? "is-waiting" : ""}`,
        "data-grade": grade,
        "aria-pressed": String(isChosen),
        "aria-label": words.join(", "),
        onclick: () => this.onChoose(grade),
      },
      make("span", { class: "name" }, key ? make("kbd", {}, key) : "", key === grade ? "" : make("bdi", { class: "grade" }, grade)),
      bar,
      make("span", { class: "share" }, shown),
      make("span", { class: "tags" }, ...tags.map(([kind, word]) => make("span", { class: `tag ${kind}` }, word))),
    );
  }

  verdicts(state) {
    const box = find("verdicts");
    box.hidden = state.grades.length === 0;
    box.classList.toggle("is-disputed", state.is_disputed);
    const decisions = state.grades.map(([name, grade]) =>
      make("li", {}, make("bdi", { class: "who" }, name), grade === null ? " skipped" : " chose ", grade === null ? "" : make("strong", {}, grade)),
    );
    const words = state.is_disputed ? `Reviewers disagree; the latest grade, ${state.grade}, is used.` : "";
    fill(box, make("ul", {}, ...decisions), words ? make("p", {}, words) : "");
  }

  evidence(item) {
    const pictures = [];
    const texts = [];
    const features = [];
    this.model.audit.columns.forEach((column, at) => {
      const cell = item.cells[at];
      if (column.role === "target") return;
      if (item.pictures.includes(at)) pictures.push(picture(item, column, at));
      else if (column.kind === "text" && cell !== null) texts.push(longText(column, cell, item.words ?? []));
      else features.push(feature(column, cell));
    });
    fill(find("pictures"), ...pictures);
    fill(find("texts"), ...texts);
    fill(find("features"), ...features);
    const near = item.similar ?? [];
    find("similar").hidden = near.length === 0;
    fill(find("similar-rows"), ...near.map((row) => similar(row, item, this.model.audit.columns)));
  }

  async history() {
    const details = find("history");
    const row = this.model.current;
    if (!details.open || row === null) return;
    try {
      const { events } = await get(`/api/history/${row}`);
      if (row !== this.model.current) return;
      const lines = events.map((event) => make("li", {}, make("time", { dateTime: event.time }, clock(event.time)), " ", make("bdi", { class: "who" }, event.reviewer), ` ${description(event)}`));
      fill(find("history-list"), ...(lines.length ? lines : [make("li", { class: "quiet" }, "No events yet.")]));
    } catch {
      fill(find("history-list"), make("li", {}, "The server does not respond."));
    }
  }

  list() {
    const { model } = this;
    find("found").textContent = model.view.length === model.items.length ? plural(model.view.length, model.noun) : `${model.view.length} of ${plural(model.items.length, model.noun)}`;
    if (this.listed !== model.view) {
      this.listed = model.view;
      this.entries = new Map(model.view.map((row) => [row, { looks: this.looks(row), element: this.entry(row) }]));
      fill(find("list"), ...[...this.entries.values()].map(({ element }) => element));
    }
    for (const [row, entry] of this.entries) this.renew(row, entry);
    if (this.reached === model.current) return;
    this.reached = model.current;
    this.entries.get(model.current)?.element.scrollIntoView({ block: "nearest" });
  }

  /** Rebuild an entry of the list only if its look has changed. */
  renew(row, entry) {
    const looks = this.looks(row);
    if (looks === entry.looks) return;
    const element = this.entry(row);
    entry.element.replaceWith(element);
    Object.assign(entry, { looks, element });
  }

  looks(row) {
    return [this.status(row), this.model.state(row).grade, row === this.model.current].join();
  }

  status(row) {
    const state = this.model.state(row);
    return this.queue.decisionOn(row) ? "pending" : state.is_disputed ? "disputed" : state.status;
  }

  entry(row) {
    const { model } = this;
    const item = model.byRow.get(row);
    const state = model.state(row);
    const status = this.status(row);
    const words = { open: "open", settled: `settled as ${state.grade}`, skipped: "skipped", pending: "not saved yet", disputed: "disputed" }[status];
    const button = make(
      "button",
      { type: "button", "aria-current": String(row === model.current), onclick: () => this.onOpen(row) },
      make("span", { class: `mark ${status}`, "aria-hidden": "true" }, MARKS[status]),
      make("span", { class: "which" }, model.title(row)),
      make("span", { class: "turn" }, make("bdi", {}, item.recorded || "?"), " → ", make("bdi", { class: state.grade ? "final" : "" }, state.grade ?? (model.audit.is_ratings ? "?" : `${item.suggested}?`))),
      make("span", { class: "unseen-word" }, `, ${words}`),
    );
    return make("li", { "data-row": row, "data-status": status }, button);
  }

  progress() {
    const { model } = this;
    const counts = model.counts();
    const total = model.items.length;
    const share = (count) => `${(100 * count) / Math.max(1, total)}%`;
    find("fill-settled").style.width = share(counts.settled);
    find("fill-skipped").style.width = share(counts.skipped);
    find("track").setAttribute("aria-valuenow", String(counts.settled));
    const more = [counts.skipped ? `${counts.skipped} skipped` : "", counts.disputed ? `${counts.disputed} disputed` : ""].filter(Boolean);
    find("progress-text").textContent = [`${counts.settled} of ${total} settled`, ...more].join(" · ");
  }
}

/** Tags of those who gave a grade: their names, or how many they are if the names are not known. */
/** How suspicious a grade is, and how likely wrong where somebody knows it. */
function doubtful(item, isRatings) {
  if (isRatings) return [make("strong", {}, percent(item.probability_wrong)), " probability that the consensus is wrong"];
  const chance = item.probability_wrong === null ? "" : `, ${percent(item.probability_wrong)} probably wrong`;
  return [make("strong", {}, item.suspicion.toFixed(2)), ` suspicion${chance}`];
}

function given(item, grade) {
  const places = [...item.grades.keys()].filter((at) => item.grades[at] === grade);
  if (!places.length) return [];
  return item.raters.length ? places.map((at) => ["rater", item.raters[at]]) : [["rater", `given ${plural(places.length, "time")}`]];
}

function picture(item, column, at) {
  const image = make("img", { src: `/picture/${item.row}/${at}`, alt: `${column.name}: ${item.cells[at]}`, loading: "eager" });
  return make("figure", {}, image, make("figcaption", {}, column.name));
}

function longText(column, cell, words) {
  return make("section", { class: "text-block" }, make("h3", {}, column.name), make("p", { dir: "auto" }, ...marked(column, cell, words)));
}

/** The text of a cell with the words that speak for a grade marked. Places count characters, not halves of them. */
function marked(column, cell, words) {
  const signs = Array.from(cell);
  const pieces = [];
  let at = 0;
  for (const word of words) {
    if (word.column !== column.name || word.start < at) continue;
    const side = word.value > 0 ? "for" : "against";
    pieces.push(signs.slice(at, word.start).join(""), make("mark", { class: side }, signs.slice(word.start, word.end).join("")));
    at = word.end;
  }
  return [...pieces, signs.slice(at).join("")];
}

/** One line per grade: the columns that speak for it. */
function speaking(item, columns) {
  const sides = [["for", item.suggested, (value) => value > 0], ["against", item.recorded, (value) => value < 0]];
  return sides.flatMap(([side, grade, fits]) => {
    const found = (item.contributions ?? []).filter((one) => fits(one.value));
    if (!found.length) return [];
    const named = found.flatMap((one, at) => [at ? ", " : "", make("bdi", {}, withCell(one.column, item.cells, columns))]);
    return [make("p", { class: `speaks ${side}` }, "For ", make("bdi", { class: "grade" }, grade), ": ", ...named, ".")];
  });
}

function withCell(name, cells, columns) {
  const at = columns.findIndex((column) => column.name === name);
  if (at < 0 || columns[at].kind === "text") return name;
  return `${name} ${cells[at] === null ? "missing" : compact(cells[at])}`;
}

/** What a similar row is called: its number is of the same kind as that of the item. */
function placed(row, item) {
  const word = /^Line /.test(item.title ?? "") ? "Line" : "Row";
  return `${word} ${(item.line ?? null) === null ? row.row : (row.line ?? row.row)}`;
}

/** A similar row: its grade, its texts, and its cells in the columns that count. */
function similar(row, item, columns) {
  const named = new Set((item.contributions ?? []).map((one) => one.column));
  const texts = columns.flatMap((column, at) => (column.kind === "text" && column.role === "feature" && row.cells[at] !== null ? [make("p", { dir: "auto" }, row.cells[at])] : []));
  const cells = columns.flatMap((column, at) => (named.has(column.name) && column.kind !== "text" ? [feature(column, row.cells[at])] : []));
  const head = make("p", { class: "which" }, `${placed(row, item)}: ${row.settled ? "settled" : "recorded"} `, make("bdi", { class: "grade" }, row.settled ?? row.recorded));
  return make("div", { class: "neighbor" }, head, ...texts, cells.length ? make("dl", { class: "features" }, ...cells) : "");
}

function feature(column, cell) {
  const value = cell === null ? make("span", { class: "missing" }, "missing") : make("bdi", { title: cell }, column.kind === "number" ? compact(cell) : cell);
  const isUsed = column.role === "feature";
  const kind = `${column.kind === "number" ? "number" : "words"} ${isUsed ? "" : "unused"}`;
  const name = make("dt", isUsed ? {} : { title: column.note || "not used as a feature" }, make("bdi", {}, column.name));
  return make("div", { class: kind }, name, make("dd", {}, value));
}

function description(event) {
  if (event.kind === "grade") return `chose ${event.grade}`;
  if (event.kind === "skip") return "skipped";
  if (event.kind === "undo") return event.grade === null ? "undid a skip" : `undid ${event.grade}`;
  return event.note ? `noted “${event.note}”` : "removed the note";
}
