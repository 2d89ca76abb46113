// The last page: counts of decisions, the corrected file, the new estimate.

import { draw, fill, find, make, percent, plural } from "./dom.js";
import { get, post } from "./wire.js";

export class Finish {
  constructor(model, { onOpen }) {
    Object.assign(this, { model, onOpen });
    find("export").addEventListener("click", () => this.export());
    find("refit").addEventListener("click", () => this.refit());
    this.shown = null;
    if (["running", "done", "failed"].includes(model.audit.refit.status)) this.follow();
  }

  render() {
    const { model } = this;
    const counts = model.counts();
    const [title, words] = this.summary(counts);
    find("finish-title").textContent = title;
    find("finish-words").textContent = words;
    const figures = [["changed", counts.changed], ["confirmed", counts.kept], ["skipped", counts.skipped], ["open", counts.open], ["disputed", counts.disputed], ...(counts.checked ? [["checked blind", counts.checked]] : [])];
    fill(find("figures"), ...figures.map(([name, count]) => make("div", { "data-figure": name }, make("dt", {}, name), make("dd", {}, String(count)))));
    fill(find("certificates"), ...model.certificates.map((words) => make("p", {}, words)));
    this.disputes();
    const trusted = counts.settled - counts.disputed;
    const isAvailable = model.audit.refit.status !== "unavailable";
    find("refit-step").hidden = !isAvailable;
    find("refit-words").textContent = trusted
      ? `With ${plural(trusted, "settled label")} as trusted.${counts.disputed ? " Disputed rows are skipped." : ""} It may take some minutes; you can continue meanwhile.`
      : "Needs at least one settled row that is not disputed.";
    find("refit").disabled = !trusted || this.shown === "running";
  }

  summary(counts) {
    const { is_ratings: isRatings } = this.model.audit;
    if (!this.model.items.length) return isRatings ? ["No item to read again", "Every item has a verified grade."] : ["No suspicious labels", "The audit found no label to review."];
    if (!counts.open) return [`All ${isRatings ? "items" : "rows"} are decided`, `Thank you. Every decision is saved in the ${isRatings ? "folder" : "audit folder"}, with its history.`];
    const title = `${isRatings ? plural(counts.open, "item is", "items are") : plural(counts.open, "row is", "rows are")} still open`;
    return [title, "You can write the file now and continue later: every decision is saved."];
  }

  disputes() {
    const rows = this.model.items.filter((item) => this.model.state(item.row).is_disputed);
    const lines = rows.map((item) => {
      const decisions = this.model.state(item.row).grades.map(([name, grade]) => `${name}: ${grade ?? "skipped"}`).join(", ");
      return make("li", {}, make("button", { type: "button", class: "link", onclick: () => this.onOpen(item.row) }, this.model.title(item.row)), ` ${decisions}`);
    });
    fill(find("disputes"), ...(rows.length ? [make("h3", {}, "Disputed rows"), make("ul", {}, ...lines)] : []));
  }

  async export() {
    const result = find("export-result");
    find("export").disabled = true;
    result.className = "result";
    result.textContent = "Writing…";
    try {
      const written = await post("/api/export", {});
      const words = `${plural(written.n_changed, "grade")} changed, ${written.n_kept} confirmed.`;
      fill(result, make("strong", {}, "Written"), ` ${words} `, make("code", {}, written.path), ...written.also.flatMap((path) => [" ", make("code", {}, path)]));
    } catch (error) {
      result.classList.add("bad");
      result.textContent = error.status ? error.message : "The server does not respond; nothing was written.";
    }
    find("export").disabled = false;
  }

  async refit() {
    try {
      await post("/api/refit", {});
    } catch (error) {
      return this.refitFailed(error.status ? error.message : "The server does not respond.");
    }
    return this.follow();
  }

  async follow() {
    this.shown = "running";
    find("refit").disabled = true;
    for (;;) {
      try {
        const report = await get("/api/refit");
        if (report.status === "done") return this.refitDone(report);
        if (report.status !== "running") return this.refitFailed(report.error ?? "The estimate did not finish; start it again.");
        find("refit-result").className = "result";
        fill(find("refit-result"), make("p", { class: "busy" }, `Estimating with ${plural(report.n_trusted, "trusted label")}: ${Math.round(report.seconds)} s`));
      } catch {
        fill(find("refit-result"), make("p", {}, "The server does not respond; trying again."));
      }
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }

  refitFailed(words) {
    this.shown = "failed";
    find("refit").disabled = false;
    find("refit-result").className = "result bad";
    fill(find("refit-result"), make("p", {}, words));
  }

  refitDone(report) {
    this.shown = "done";
    find("refit").disabled = false;
    find("refit-result").className = "result";
    const caption = `With ${plural(report.n_trusted, "trusted label")}, in ${report.seconds} s`;
    fill(
      find("refit-result"),
      make("p", { class: "quiet" }, caption),
      intervals(report),
      ...report.words.map((words) => make("p", {}, words)),
      report.rate_after === null && !report.interval_after ? "" : matrix(report, this.model.audit.classes),
    );
  }
}

/** A share as a percentage; of a range both ends. */
function shown(rate, ends) {
  return rate === null ? `${percent(ends[0])} to ${percent(ends[1])}` : percent(rate);
}

/** Share of wrong labels before and after, each with its interval, on one scale; unknown shares are skipped, a range has no dot. */
function intervals(report) {
  const both = [["before", report.rate_before, report.interval_before], ["now", report.rate_after, report.interval_after]];
  const rows = both.filter(([, rate, ends]) => rate !== null || ends);
  if (!rows.length) return "";
  const largest = Math.max(...rows.flatMap(([, rate, ends]) => [rate ?? 0, ...(ends ?? [])]));
  const top = Math.min(1, Math.max(0.05, Math.ceil(largest * 22) / 20)); // rounded up to 5 %, with a margin
  const x = (share) => 60 + (360 * share) / top;
  const lines = rows.flatMap(([name, rate, ends], at) => {
    const y = 22 + 34 * at;
    const label = draw("text", { x: 50, y: y + 4, "text-anchor": "end" });
    label.textContent = name;
    const line = draw("line", { x1: x(ends?.[0] ?? rate), x2: x(ends?.[1] ?? rate), y1: y, y2: y, class: `span ${name}` });
    const number = draw("text", { x: x(rate ?? (ends[0] + ends[1]) / 2), y: y - 9, "text-anchor": "middle", class: "number" });
    number.textContent = shown(rate, ends);
    return [label, line, rate === null ? "" : draw("circle", { cx: x(rate), cy: y, r: 5, class: `dot ${name}` }), number];
  });
  const axis = [draw("line", { x1: 60, x2: 420, y1: 76, y2: 76, class: "axis" })];
  for (const [share, anchor] of [[0, "middle"], [top, "end"]]) {
    const label = draw("text", { x: x(share), y: 92, "text-anchor": anchor });
    label.textContent = percent(share);
    axis.push(label);
  }
  const words = `Share of wrong labels: ${rows.map(([name, rate, ends]) => `${name} ${shown(rate, ends)}`).join(", ")}`;
  return draw("svg", { viewBox: "0 0 440 98", class: "intervals", role: "img", "aria-label": words }, ...axis, ...lines);
}

/** The new noise matrix, with the change of each entry. */
function matrix(report, classes) {
  const head = make("tr", {}, make("th", { scope: "col" }, "true ↓ recorded →"), ...classes.map((grade) => make("th", { scope: "col" }, grade)));
  const body = report.matrix_after.map((shares, truth) => {
    const cells = shares.map((share, recorded) => {
      const change = report.rate_before === null ? 0 : share - report.matrix_before[truth][recorded];
      const words = Math.abs(change) < 0.0005 ? "" : `${change > 0 ? "+" : "−"}${Math.abs(100 * change).toFixed(1)}`;
      const cell = make("td", { class: truth === recorded ? "same" : "" }, make("span", {}, percent(share)), make("small", {}, words));
      cell.style.setProperty("--share", String(Math.min(1, share)));
      return cell;
    });
    return make("tr", {}, make("th", { scope: "row" }, classes[truth]), ...cells);
  });
  const changes = report.rate_before === null ? "" : "; below each share, its change in percentage points";
  const caption = make("caption", {}, `How true grades are recorded now${changes}`);
  return make("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Noise matrix" }, make("table", { class: "matrix" }, caption, make("thead", {}, head), make("tbody", {}, ...body)));
}
