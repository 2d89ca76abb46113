// The controller of the page: keys, buttons, saving.

import { clock, fill, find, make, plural } from "./dom.js";
import { Finish } from "./finish.js";
import { Model } from "./model.js";
import { View } from "./view.js";
import { get, Queue } from "./wire.js";

const POLL_MS = 2000;
const NAME = "ordinoise-reviewer";

let model, queue, view, finish;
let isRefused = false; // whether the alert is about a write that the server refused
let nAnswers = 0; // number of answered writes: a poll that began before the last of them is stale

async function start() {
  try {
    model = new Model(await get("/api/audit"));
  } catch (error) {
    showAlert(error.status ? error.message : "The server does not respond; reload the page.");
    return;
  }
  queue = new Queue(model.audit.subject, { onSaved: saved, onWaiting: waiting, onRefused: refused });
  model.isPending = (row) => Boolean(queue.decisionOn(row));
  view = new View(model, queue, { onChoose: choose, onOpen: open });
  finish = new Finish(model, { onOpen: open });
  // Grades with longer names need a wider column.
  document.body.classList.toggle("ratings", model.audit.is_ratings);
  document.body.classList.toggle("wordy", model.audit.classes.some((grade) => grade.length > 3));
  connect();
  rename(knownName());
  model.current = startingRow();
  if (location.hash === "#finish" || !model.items.length) showFinish();
  else show();
  queue.send();
  setInterval(poll, POLL_MS);
  document.documentElement.dataset.ready = "yes";
  if (!model.reviewer) askName();
}

function startingRow() {
  const named = Number(location.hash.slice(5));
  if (location.hash.startsWith("#row=") && model.view.includes(named)) return named;
  return model.view.find((row) => model.awaits(row)) ?? model.view[0] ?? null;
}

// ---- decisions

function choose(grade) {
  if (grade !== null && !model.audit.classes.includes(grade)) return; // a blind row has nothing to accept or keep
  if (model.current === null || !find("finish").hidden) return;
  if (!model.reviewer) return askName();
  keepNote();
  queue.add("decide", { row: model.current, grade, reviewer: model.reviewer });
  showPending();
  const next = model.following();
  if (next === null) showFinish();
  else open(next);
}

function undo() {
  if (!model.reviewer) return askName();
  queue.add("undo", { reviewer: model.reviewer });
  showPending();
}

function keepNote() {
  const note = find("note").value.trim();
  // Only if it was edited here: the note may have changed elsewhere since it was shown.
  if (model.current === null || find("row").hidden || note === view.shownNote) return;
  if (!model.reviewer) return askName();
  view.shownNote = note;
  queue.add("note", { row: model.current, note, reviewer: model.reviewer });
  showPending();
}

// ---- answers of the server

function saved(entry, answer) {
  nAnswers += 1;
  isRefused = false;
  if (answer.state) model.learn({ states: [answer.state] });
  hideAlert();
  if (entry.action === "undo") undone(answer.event);
  else if (!queue.entries.length) showStatus("saved", `Saved${what(answer.event)} at ${clock(answer.event.time)}`);
  if (queue.entries.length) showPending();
  refresh();
}

function what(event) {
  const title = model.title(event.row).replace(/^(Row|Line|Item)/, (word) => word.toLowerCase());
  if (event.kind === "note") return `: note on ${title}`;
  return event.kind === "skip" ? `: ${title} skipped` : `: ${title} is ${event.grade}`;
}

function undone(event) {
  if (!event) return showStatus("saved", "Nothing to undo");
  showStatus("saved", `Undone: ${event.grade === null ? "skip" : event.grade} on ${model.title(event.row).replace(/^(Row|Line|Item)/, (word) => word.toLowerCase())}`);
  if (!model.view.includes(event.row)) {
    model.filter = { status: "all", grade: "", text: "" };
    showFilter();
    model.look();
  }
  return open(event.row);
}

function waiting(error) {
  showPending();
  const kept = `${plural(queue.entries.length, "decision or note is", "decisions or notes are")} not saved yet; kept in this browser and sent again.`;
  showAlert(`${trouble(error)} ${kept}`);
  refresh();
}

function trouble(error) {
  if (!error.status) return "The server does not respond.";
  return error.status === 403 ? "The review was restarted at another address: open the address that it printed." : `${error.message}.`;
}

function refused(entry, error) {
  isRefused = true;
  showAlert(`Not saved: ${error.message}`);
  showStatus("bad", "Not saved");
  refresh();
}

function showPending() {
  const words = `${plural(queue.entries.length, "change")} not saved yet`;
  showStatus("pending", queue.trouble ? words : "Saving…");
}

function showStatus(kind, words) {
  find("status").dataset.kind = kind;
  find("status").textContent = words;
}

function showAlert(words) {
  find("alert").hidden = false;
  find("alert").textContent = words;
}

function hideAlert() {
  find("alert").hidden = true;
}

async function poll() {
  if (document.hidden) return;
  const [before, reached] = [nAnswers, model.last];
  try {
    const news = await get(`/api/changes/${model.last}`);
    if (before !== nAnswers || reached !== model.last) return;
    if (queue.entries.length) queue.hurry();
    else if (!isRefused) hideAlert();
    if (news.last === model.last) return;
    model.learn(news);
    refresh();
  } catch (error) {
    if (!queue.entries.length) showAlert(`${trouble(error)} Nothing is lost: new decisions are kept in this browser until they are saved.`);
  }
}

// ---- display

function refresh() {
  view.progress();
  view.list();
  if (find("finish").hidden) view.judgement();
  else finish.render();
}

function show() {
  find("finish").hidden = true;
  view.row();
  view.progress();
  view.list();
  find("bar").hidden = model.current === null;
  find("skip").hidden = find("next").hidden = false;
  find("previous").disabled = model.neighbor(-1) === null;
  history.replaceState(null, "", model.current === null ? "#" : `#row=${model.current}`);
}

function open(row) {
  keepNote();
  model.current = row;
  show();
  document.body.classList.remove("shows-list");
  find("show-list").setAttribute("aria-expanded", "false");
  find("row-title").focus({ preventScroll: true });
  scrollTo({ top: 0 });
}

function move(step) {
  if (!find("finish").hidden) return step < 0 ? back() : undefined;
  const row = model.neighbor(step);
  if (row !== null) return open(row);
  return step > 0 ? showFinish() : undefined;
}

function showFinish() {
  keepNote();
  find("row").hidden = true;
  find("empty").hidden = true;
  find("finish").hidden = false;
  find("bar").hidden = find("previous").disabled = false;
  find("skip").hidden = find("next").hidden = true;
  document.body.classList.remove("shows-list");
  history.replaceState(null, "", "#finish");
  refresh();
  find("finish-title").focus({ preventScroll: true });
  scrollTo({ top: 0 });
}

function back() {
  if (model.current === null) model.current = model.view[0] ?? null;
  show();
  find("row-title").focus({ preventScroll: true });
}

// ---- filters

function refilter() {
  keepNote();
  model.filter = { status: find("filter-status").value, grade: find("filter-grade").value, text: find("filter-text").value };
  model.look();
  show();
}

function showFilter() {
  find("filter-status").value = model.filter.status;
  find("filter-grade").value = model.filter.grade;
  find("filter-text").value = model.filter.text;
}

// ---- reviewer

function knownName() {
  const given = document.querySelector('meta[name="review-reviewer"]').content;
  try {
    return sessionStorage.getItem(NAME) || given || localStorage.getItem(NAME) || "";
  } catch {
    return given;
  }
}

function rename(name) {
  model.reviewer = name;
  find("reviewer").textContent = name || "Your name?";
  if (!name) return;
  try {
    sessionStorage.setItem(NAME, name);
    localStorage.setItem(NAME, name);
  } catch {
    // Without storage, the page asks again next time.
  }
}

function askName() {
  find("name-field").value = model.reviewer;
  find("name-dialog").showModal();
  find("name-field").select();
}

// ---- keys and buttons

const KEYS = {
  ArrowRight: () => move(1),
  ArrowLeft: () => move(-1),
  a: () => choose(model.byRow.get(model.current)?.suggested),
  k: () => choose(model.byRow.get(model.current)?.recorded),
  s: () => choose(null),
  u: undo,
  n: () => find("finish").hidden && find("note").focus(),
  "/": () => find("filter-text").focus(),
  "?": () => find("help-dialog").showModal(),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input, textarea, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const rank = model.audit.keys.indexOf(event.key);
  const act = rank >= 0 ? () => choose(model.audit.classes[rank]) : KEYS[event.key];
  // A key held down must not decide one row after another.
  if (!act || (event.repeat && !event.key.startsWith("Arrow"))) return;
  event.preventDefault();
  act();
}

function connect() {
  document.addEventListener("keydown", onKey);
  const clicks = {
    previous: () => move(-1), next: () => move(1), skip: () => choose(null), undo, back,
    "finish-button": showFinish, "help-button": () => find("help-dialog").showModal(), reviewer: askName,
    "show-list": toggleList, "reset-filter": () => { model.filter = { status: "all", grade: "", text: "" }; showFilter(); refilter(); },
  };
  for (const [id, act] of Object.entries(clicks)) find(id).addEventListener("click", act);
  for (const id of ["filter-status", "filter-grade"]) find(id).addEventListener("change", refilter);
  find("filter-text").addEventListener("input", refilter);
  find("note").addEventListener("change", keepNote);
  find("note").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.blur();
  });
  find("name-form").addEventListener("submit", () => {
    const isFirst = !model.reviewer;
    if (!isFirst) keepNote();
    rename(find("name-field").value.trim().replace(/\s+/g, " "));
    if (isFirst) keepNote();
    else view.note();
    refresh();
    find("row-title").focus({ preventScroll: true });
  });
  addEventListener("beforeunload", (event) => {
    if (queue.entries.length) event.preventDefault();
  });
  document.addEventListener("visibilitychange", poll);
  const used = model.audit.keys.filter(Boolean);
  fill(find("help-digits"), make("kbd", {}, used[0]), " … ", make("kbd", {}, used.at(-1)));
}

function toggleList() {
  const shows = document.body.classList.toggle("shows-list");
  find("show-list").setAttribute("aria-expanded", String(shows));
}

start();
