
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector, root = document) => root.querySelector(selector);
  const cells = all(".cell");
  const form = one(".filter");
  const query = one("#q");
  const shown = one("#shown");
  const switches = all(".switch");
  const texts = new Map(cells.map((cell) => [cell, textOf(cell)]));
  const parts = new WeakMap();
  let zoom = 1;

  // What a cell is found by. The timeline is left out: every cell has a client and a provider.
  function textOf(cell) {
    const parts = [one("summary", cell), one(".title", cell), ...all(".judged code", cell), one(".facts", cell)];
    return parts.map((part) => (part ? part.textContent : "")).join(" ").toLowerCase();
  }

  function filter() {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    const off = new Set(switches.filter((b) => b.getAttribute("aria-pressed") === "false").map((b) => b.dataset.v));
    let count = 0;
    for (const cell of cells) {
      const text = texts.get(cell);
      const fits = !off.has(cell.dataset.v) && words.every((word) => text.includes(word));
      cell.hidden = !fits;
      count += fits ? 1 : 0;
    }
    shown.textContent = count === cells.length ? `${count} cells` : `${count} of ${cells.length} cells`;
  }

  function openTarget() {
    const id = decodeURIComponent(location.hash.slice(1));
    const cell = id && document.getElementById(id);
    if (!cell || !cell.classList.contains("cell")) return;
    cell.open = true;
    // Before it is scrolled to, because what is added later moves what is in sight.
    ready(cell);
    if (cell.hidden) {
      query.value = "";
      for (const button of switches) button.setAttribute("aria-pressed", "true");
      filter();
    }
    cell.scrollIntoView();
    one("summary", cell).focus({ preventScroll: true });
  }

  function step(by, fits) {
    const visible = cells.filter((cell) => !cell.hidden && fits(cell));
    if (!visible.length) return;
    const now = document.activeElement && document.activeElement.closest(".cell");
    const order = cells.indexOf(now);
    const next = by > 0
      ? visible.find((cell) => cells.indexOf(cell) > order)
      : visible.findLast((cell) => now && cells.indexOf(cell) < order);
    const cell = next || (now ? null : visible[0]);
    if (!cell) return;
    one("summary", cell).focus({ preventScroll: true });
    cell.scrollIntoView({ block: "nearest" });
  }

  // What hangs on the axis, where it was drawn and how wide.
  function partsOf(svg) {
    return all(".m, .t, .k, .v", svg).map((part) => {
      const place = part.transform.baseVal[0].matrix;
      const bar = part.matches(".k") ? null : one(":scope > rect", part);
      return { part, bar, end: one(".e", part), x: place.e, y: place.f, width: bar ? bar.width.baseVal.value : 0 };
    });
  }

  // Only what hangs on the axis moves, so that text keeps its size.
  function stretch(svg) {
    const left = +svg.dataset.left;
    const right = +svg.dataset.right;
    const at = (x) => left + (x - left) * zoom;
    const width = at(right) + (+svg.dataset.width - right);
    svg.setAttribute("width", width);
    svg.setAttribute("viewBox", `0 0 ${width} ${svg.getAttribute("height")}`);
    for (const band of all(".b", svg)) band.setAttribute("width", width);
    for (const { part, bar, end, x, y, width: wide } of parts.get(svg)) {
      part.setAttribute("transform", `translate(${at(x)} ${y})`);
      if (bar) bar.setAttribute("width", wide * zoom);
      if (end) end.setAttribute("transform", `translate(${wide * zoom} 0)`);
    }
  }

  function setZoom(to) {
    const before = zoom;
    zoom = Math.min(16, Math.max(1, to));
    if (zoom === before) return;
    for (const svg of all(".cell[open] .tl")) rescale(svg);
  }

  function rescale(svg) {
    if ((svg.dataset.zoom || "1") === String(zoom)) return;
    stretch(svg);
    svg.dataset.zoom = zoom;
  }

  function inWords(row) {
    const [ms, lane, who, what, took, mark] = [...row.cells].map((cell) => cell.textContent);
    return `${ms} ms, ${lane} ${who}: ${what}${took ? ` (${took})` : ""}${mark ? `, ${mark}` : ""}`;
  }

  function tools(figure) {
    const pan = one(".pan", figure);
    const svg = one(".tl", figure);
    svg.dataset.width = svg.getAttribute("width");
    parts.set(svg, partsOf(svg));
    const bar = document.createElement("div");
    bar.className = "tools";
    const button = (text, name, act) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.setAttribute("aria-label", name);
      made.addEventListener("click", act);
      bar.append(made);
    };
    button("−", "Narrower timelines", () => setZoom(zoom / 1.5));
    button("+", "Wider timelines", () => setZoom(zoom * 1.5));
    button("1:1", "Timelines as they were", () => setZoom(1));
    const told = document.createElement("output");
    told.setAttribute("aria-live", "polite");
    bar.append(told);
    figure.prepend(bar);
    // The table has the moments in order, and in full.
    const rows = all("tr[data-i]", figure.nextElementSibling);
    const drawn = new Map(all(".m", svg).map((moment) => [moment.dataset.i, moment]));
    const moments = rows.map((row) => drawn.get(row.dataset.i));
    const words = new Map(rows.map((row, index) => [moments[index], inWords(row)]));
    let current = -1;
    const show = (moment) => {
      for (const other of all(".on", svg)) other.classList.remove("on");
      if (!moment) return;
      moment.classList.add("on");
      told.textContent = words.get(moment);
    };
    svg.addEventListener("pointerover", (event) => {
      const moment = event.target.closest(".m");
      if (moment) {
        current = moments.indexOf(moment);
        show(moment);
      }
    });
    pan.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by || event.target !== pan) return;
      event.preventDefault();
      current = Math.min(moments.length - 1, Math.max(0, current + by));
      show(moments[current]);
      const box = moments[current].getBoundingClientRect();
      const frame = pan.getBoundingClientRect();
      if (box.left < frame.left || box.right > frame.right) pan.scrollLeft += box.left - frame.left - frame.width / 3;
    });
  }

  // Buttons and handlers are made when a cell is opened first: a page of 500 cells has to be there at once.
  function ready(cell) {
    if (cell.dataset.ready) return;
    cell.dataset.ready = "yes";
    all("pre.cmd", cell).forEach(onejob.copyButton);
    all("figure", cell).forEach(tools);
  }

  for (const cell of cells) {
    cell.addEventListener("toggle", () => {
      if (!cell.open) return;
      ready(cell);
      all(".tl", cell).forEach(rescale);
    });
  }
  all(".troubles pre.cmd").forEach(onejob.copyButton);
  query.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const button of switches) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") === "false"));
      filter();
    });
  }
  const help = one("#help");
  const acts = {
    open(button) {
      const visible = cells.filter((cell) => !cell.hidden);
      const open = visible.some((cell) => !cell.open);
      for (const cell of visible) cell.open = open;
      button.textContent = open ? "Close all" : "Open all";
    },
    theme: onejob.theme,
    help() { help.showModal(); },
  };
  for (const button of all("[data-do]")) button.addEventListener("click", () => acts[button.dataset.do](button));

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (event.target === query) {
      if (event.key === "Escape") {
        query.value = "";
        filter();
        query.blur();
      }
      return;
    }
    const notGreen = (cell) => !["pass", "skipped"].includes(cell.dataset.v);
    const keys = {
      "/": () => query.focus(),
      "?": () => help.showModal(),
      j: () => step(1, () => true),
      k: () => step(-1, () => true),
      n: () => step(1, notGreen),
      p: () => step(-1, notGreen),
      "+": () => setZoom(zoom * 1.5),
      "=": () => setZoom(zoom * 1.5),
      "-": () => setZoom(zoom / 1.5),
      0: () => setZoom(1),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // On paper nobody can open a cell.
  let opened = [];
  addEventListener("beforeprint", () => {
    const closed = cells.filter((cell) => !cell.hidden && !cell.open && !["pass", "skipped"].includes(cell.dataset.v));
    for (const cell of closed) cell.open = true;
    opened.push(...closed);
  });
  addEventListener("afterprint", () => {
    for (const cell of opened) cell.open = false;
    opened = [];
  });

  form.hidden = false;
  filter();
  addEventListener("hashchange", openTarget);
  openTarget();
})();
