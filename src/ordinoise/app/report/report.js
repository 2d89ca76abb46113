"use strict";
(() => {
  // Links lead into the folded evidence, and paper shows all of it.
  const folded = document.getElementById("evidence");
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (folded && target && folded.contains(target)) {
      folded.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", unfold);
  addEventListener("beforeprint", () => folded && (folded.open = true));
  unfold();
})();
(() => {
  const table = document.getElementById("rows");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const find = document.getElementById("find");
  const selects = ["recorded", "suggested"].map((name) => document.getElementById(name)).filter(Boolean);
  const shown = document.getElementById("shown");
  const texts = new Map(rows.map((row) => [row, row.innerText.toLowerCase()]));
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  // Sort key of a cell; null (missing, or not a number in a column of numbers) comes last in either direction.
  const valueOf = (row, place, type) => {
    const cell = row.cells[place];
    if (cell.classList.contains("missing")) return null;
    const text = cell.dataset.v ?? cell.textContent.trim();
    if (type !== "number") return text;
    const number = text === "" ? NaN : Number(text);
    return Number.isNaN(number) ? null : number;
  };

  const sortBy = (button) => {
    const header = button.parentElement;
    const now = header.getAttribute("aria-sort");
    const next = now ? (now === "ascending" ? "descending" : "ascending") : button.dataset.first;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", next);
    const sign = next === "ascending" ? 1 : -1;
    const values = new Map(rows.map((row) => [row, valueOf(row, header.cellIndex, button.dataset.type)]));
    rows.sort((one, two) => {
      const [a, b] = [values.get(one), values.get(two)];
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (typeof a === "number" ? a - b : collator.compare(a, b));
    });
    body.append(...rows);
  };

  const filter = () => {
    const wanted = find.value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      const fits = selects.every((select) => !select.value || row.dataset[select.id] === select.value);
      row.hidden = !(fits && texts.get(row).includes(wanted));
      if (!row.hidden) count += 1;
    }
    shown.textContent = `Showing ${count} of ${rows.length} rows`;
  };

  for (const button of table.tHead.querySelectorAll("button")) {
    button.disabled = false;
    button.addEventListener("click", () => sortBy(button));
  }
  find.addEventListener("input", filter);
  for (const select of selects) select.addEventListener("change", filter);
  document.getElementById("clear").addEventListener("click", () => {
    for (const control of [find, ...selects]) control.value = "";
    filter();
  });
  document.getElementById("filters").hidden = false;
  filter();
})();
