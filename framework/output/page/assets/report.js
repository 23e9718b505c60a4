"use strict";
// The page draws everything from one object, D, whose long columns of numbers are
// decoded when they are first drawn. Figures are drawn when they come into view.
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const embedded = JSON.parse($("data").textContent);
  const state = { metric: null, query: "", top: 8, rows: 25, beside: "", bands: true, logx: false, logy: false, focus: -1 };
  let D = null;

  // ---- small helpers
  const make = (tag, props = {}, ...children) => {
    const e = Object.assign(document.createElement(tag), props);
    e.append(...children);
    return e;
  };
  const styles = new Map(); // of the theme
  const css = (name) => {
    if (!styles.has(name)) styles.set(name, getComputedStyle(root).getPropertyValue(name).trim());
    return styles.get(name);
  };
  const dark = () => root.dataset.theme === "dark";
  const ok = Number.isFinite;
  // Formats are made once: making one takes longer than all of its numbers.
  const formats = new Map();
  const decimal = (v, key, options) => {
    if (!formats.has(key)) formats.set(key, new Intl.NumberFormat("en", options));
    return formats.get(key).format(v);
  };
  const count = (n) => decimal(n, "count", {});
  const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;
  const minus = (s) => s.replace(/-/g, "−");
  // About four significant digits, thousands apart.
  const num = (v) => {
    if (!ok(v)) return "–";
    const a = Math.abs(v);
    if (a >= 1e9 || (a > 0 && a < 1e-4)) return minus(v.toExponential(3));
    const digits = a >= 1e4 ? Math.min(9, Math.ceil(Math.log10(a)) + 1) : 4;
    return minus(decimal(v, "significant" + digits, { maximumSignificantDigits: digits }));
  };
  // A mean with half of its interval, to two digits of the latter.
  const halves = (mean, low, high) => {
    const half = Math.max(mean - low, high - mean); // a bound of the metric may cut one side
    if (!ok(mean)) return ["–", ""];
    if (!ok(half) || half === 0 || half < 1e-9 || Math.abs(mean) >= 1e12) return [num(mean), ok(half) && half > 0 ? num(half) : ""];
    const digits = Math.max(0, Math.min(9, 1 - Math.floor(Math.log10(half))));
    const f = (x) => minus(decimal(x, "fixed" + digits, { minimumFractionDigits: digits, maximumFractionDigits: digits }));
    return [f(mean), f(half)];
  };
  // A value and the ends of its interval with the decimals of halves.
  const alike = (value, low, high) => {
    const half = (high - low) / 2;
    if (!(half >= 1e-9) || Math.abs(value) >= 1e12) return [value, low, high].map(num);
    const digits = Math.max(0, Math.min(9, 1 - Math.floor(Math.log10(half))));
    return [value, low, high].map((x) => minus(decimal(x, "fixed" + digits, { minimumFractionDigits: digits, maximumFractionDigits: digits })));
  };
  const text = (mean, low, high) => { const [a, b] = halves(mean, low, high); return b ? `${a} ± ${b}` : a; };
  const signed = (mean, low, high) => (mean > 0 ? "+" : "") + text(mean, low, high);
  const pvalue = (p) => !ok(p) ? "–" : p < 0.0001 ? "< 0.0001" : p.toPrecision(2);

  const decoded = new Map(); // by the base64 text's holder and name
  function column(holder, name) {
    let names = decoded.get(holder);
    if (!names) decoded.set(holder, names = {});
    if (!names[name]) {
      const raw = atob(holder[name]);
      const bytes = new Uint8Array(raw.length);
      for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
      names[name] = new Float32Array(bytes.buffer);
    }
    return names[name];
  }
  let rowsAt, curvesAt;
  const rowsOf = (e, m) => rowsAt.get(e * 1000 + m);
  const curvesOf = (e, m) => curvesAt.get(e * 1000 + m);

  // ---- which agents, in which order and colour
  // The colours of plots/style.go, and lighter ones for a dark page.
  const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#514989", "#813805", "#83b276", "#ab0a56", "#061a90", "#3dccbe", "#d20cc5", "#105a3e", "#958bfb", "#ea7e43", "#8c754e", "#551b56", "#40807c", "#f4305e"];
  const paletteDark = ["#4aa8e8", "#ff8a3c", "#2fc79a", "#e29ac4", "#f0b432", "#8fd0f5", "#b75fe6", "#9e878a", "#d5f63b", "#da6f63", "#3089fd", "#7df3c4", "#f530bf", "#329336", "#f5b2de", "#e4bdbb", "#c0d183", "#8a7abc", "#92a29d", "#ed3a15"];
  const dashes = ["", "7 3", "2 2", "8 3 2 3"];
  const marks = ["Circle", "Square", "Triangle", "Star", "Cross", "Wye", "Diamond", "Diamond2"].map((n) => d3["symbol" + n]);
  let shown = [], order = [], slot = new Map();

  const metric = () => D.metrics[state.metric];
  const overall = () => D.comparison && D.comparison.aggregates && D.comparison.metric === metric().id ? D.comparison.aggregates : null;

  function arrange() {
    const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
    shown = [];
    D.agents.forEach((name, a) => { const low = name.toLowerCase(); if (words.every((w) => low.includes(w))) shown.push(a); });
    order = ranked(state.metric);
    slot = new Map();
    const some = shown.length <= state.top ? shown : order.filter((a) => inSet.has(a)).slice(0, state.top);
    some.forEach((a, i) => slot.set(a, i));
    $("shown").textContent = shown.length === D.agents.length ? plural(shown.length, "agent", "agents") : `${count(shown.length)} of ${plural(D.agents.length, "agent", "agents")}`;
  }
  let inSet = new Set();
  // Agents from the best to the worst: by the interquartile mean of normalised scores
  // where there is one, otherwise by the mean of their ranks.
  function ranked(m) {
    inSet = new Set(shown);
    const values = overall() ? column(overall(), "iqm").map((v) => -v) : meanRanks(m);
    const key = (a) => ok(values[a]) ? values[a] : Infinity;
    return D.agents.map((_, a) => a).sort((x, y) => { const a = key(x), b = key(y); return a === b ? x - y : a - b; });
  }
  // Mean ranks over the environments in which an agent has values; 1 is best.
  function meanRanks(m) {
    const sum = new Float32Array(D.agents.length), times = new Float32Array(D.agents.length);
    const sign = D.metrics[m].better < 0 ? 1 : -1;
    D.environments.forEach((_, e) => {
      const r = rowsOf(e, m);
      if (!r) return;
      const values = column(r, "mean");
      const list = D.agents.map((_, a) => a).filter((a) => ok(values[a])).sort((x, y) => sign * (values[x] - values[y]));
      for (let i = 0; i < list.length;) { // equal values share their mean rank
        let j = i;
        while (j < list.length && values[list[j]] === values[list[i]]) j++;
        for (let k = i; k < j; k++) { sum[list[k]] += (i + j + 1) / 2; times[list[k]]++; }
        i = j;
      }
    });
    return sum.map((s, a) => times[a] ? s / times[a] : NaN);
  }
  const colorOf = (a) => slot.has(a) ? (dark() ? paletteDark : palette)[slot.get(a) % palette.length] : css("--faint");
  const dashOf = (a) => slot.has(a) ? dashes[(Math.floor(slot.get(a) / 5) + Math.floor(slot.get(a) / palette.length)) % dashes.length] : "";

  const markOf = (a) => marks[(slot.get(a) + Math.floor(slot.get(a) / marks.length)) % marks.length];
  const addMark = (to, a, x, y) => to.append("path").attr("d", d3.symbol(markOf(a), 34)()).attr("transform", `translate(${x},${y})`).attr("fill", colorOf(a));

  // ---- axes
  // Labels of a linear axis: as many digits as the distance of ticks needs.
  function linear(low, high, n) {
    let ticks = d3.ticks(low, high, n);
    for (let more = n + 1; ticks.length < 2 && more < 12; more++) ticks = d3.ticks(low, high, more);
    const gap = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
    const big = Math.max(Math.abs(low), Math.abs(high));
    const digits = Math.max(0, -Math.floor(Math.log10(gap) + 1e-9));
    const [unit, by] = big >= 1e9 ? ["G", 1e9] : big >= 1e6 ? ["M", 1e6] : big >= 2e4 ? ["k", 1e3] : ["", 1];
    const fraction = Math.max(0, -Math.floor(Math.log10(gap / by) + 1e-9));
    // Long labels have an exponent, with the digits in which ticks differ.
    const power = (v) => {
      const after = Math.floor(Math.log10(Math.abs(v)) + 1e-9) - Math.floor(Math.log10(gap) + 1e-9);
      return minus(v.toExponential(Math.max(0, Math.min(15, after))).replace("e+", "e"));
    };
    const format = (v) => Math.abs(v) < gap / 2 ? "0" : big >= 1e12 || digits > 6 && big < 1e-3 ? power(v)
      : minus(decimal(v / by, "fixed" + fraction, { maximumFractionDigits: fraction, minimumFractionDigits: fraction })) + unit;
    return { ticks, tickFormat: format };
  }
  const superscript = (n) => String(n).replace(/[-\d]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
  // Labels of a logarithmic axis: powers of ten, and 2 and 5 times them on short axes.
  function logarithmic(low, high, n) {
    const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high));
    const decades = to - from, every = Math.max(1, Math.ceil(decades / n));
    let ticks = [];
    for (let k = from; k <= to; k += every) for (const f of decades <= 2 ? [1, 2, 5] : [1]) ticks.push(f * 10 ** k);
    ticks = ticks.filter((v) => v >= low * 0.999 && v <= high * 1.001);
    if (ticks.length < 2) { // evenly spaced numbers, without those that lie too close together
      const even = linear(low, high, n), gap = Math.log(high / low) / n;
      let last = -Infinity;
      even.ticks = even.ticks.filter((v) => Math.log(v) - last >= gap && (last = Math.log(v), true));
      return even;
    }
    return { ticks, tickFormat: (v) => v >= 1e5 || v < 1e-3 ? (v / 10 ** Math.floor(Math.log10(v) + 1e-9) > 1.5 ? Math.round(v / 10 ** Math.floor(Math.log10(v) + 1e-9)) + "·" : "") + "10" + superscript(Math.floor(Math.log10(v) + 1e-9)) : v.toLocaleString("en", { maximumFractionDigits: 6 }) };
  }
  const axis = (log, domain, n) => ({ type: log ? "log" : "linear", domain, ...(log ? logarithmic : linear)(domain[0], domain[1], n) });
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "12px system-ui, sans-serif";
  const measure = (s) => pen.measureText(s).width;
  // The words with which all labels begin, as those of a sweep do.
  function beginning(labels) {
    let n = 0;
    const [first = "", ...others] = labels;
    while (n < first.length && others.every((l) => l[n] === first[n])) n++;
    return others.length ? first.slice(0, n).replace(/\S*$/, "") : "";
  }
  // fit shortens a label. It leaves out the beginning, which the others share, or else the middle.
  function fit(label, width, beginning = "") {
    if (measure(label) <= width) return label;
    const rest = "…" + label.slice(beginning.length);
    if (beginning && measure(rest) <= width) return rest;
    for (let n = label.length - 1; n > 2; n--) {
      const short = label.slice(0, Math.ceil(n * 0.4)) + "…" + label.slice(label.length - Math.floor(n * 0.6));
      if (measure(short) <= width) return short;
    }
    return "…";
  }
  // Lines of words that are no wider than width.
  function wrap(words, width, font) {
    const was = pen.font, lines = [];
    pen.font = font;
    for (const word of words.split(/\s+/)) {
      const longer = lines.length ? lines.at(-1) + " " + word : word;
      if (lines.length && measure(longer) <= width) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    pen.font = was;
    return lines;
  }
  const style = () => ({ background: "transparent", color: css("--ink"), fontSize: "12px", fontFamily: "system-ui, sans-serif" });
  const padded = (lo, hi) => { const pad = hi > lo ? 0.04 * (hi - lo) : Math.max(Math.abs(lo) * 0.05, 0.5); return [lo - pad, hi + pad]; };
  const widest = (a) => Math.max(0, ...a.ticks.map((t) => measure(a.tickFormat(t))));

  // ---- figures
  let figures = [];
  const visible = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const f = entry.target.figure;
      if (!f) continue;
      f.seen = entry.isIntersecting;
      if (f.seen) paint(f);
    }
  }, { rootMargin: "200px" });

  // figure puts a drawing into host: draw(width) returns an SVG element, and may set
  // hover(x, y) and mark(agent) on it; csv() returns rows. alone is the title of a picture
  // that stands outside the page, and of its file.
  function figure(host, { title, note = "", alone = title, draw, csv, tall = false, wide = false, height = 240 }) {
    const drawing = make("div", { className: "drawing" + (tall ? " tall" : "") + (wide ? " wide" : "") });
    drawing.style.minHeight = Math.min(height, 544) + "px";
    const caption = make("figcaption", {}, make("span", {}, title, note ? make("small", { textContent: "  " + note }) : ""));
    const node = make("figure", {}, caption, drawing);
    const f = { node, drawing, draw, csv, title: note ? `${alone} (${note})` : alone, dirty: true, seen: false, width: 0 };
    const saves = make("div", { className: "saves" });
    for (const [kind, save] of [["SVG", saveSVG], ["PNG", savePNG], ["CSV", saveCSV]]) {
      const b = make("button", { type: "button", textContent: kind, title: `Download as ${kind}` });
      b.setAttribute("aria-label", `Download ${f.title} as ${kind}`);
      b.addEventListener("click", () => save(f));
      saves.append(b);
    }
    caption.append(saves);
    node.figure = f;
    host.append(node);
    figures.push(f);
    visible.observe(node);
    drawing.addEventListener("pointermove", (ev) => hover(f, ev));
    drawing.addEventListener("pointerleave", () => { hideTip(); highlight(-1); });
    return f;
  }
  function paint(f) {
    const width = Math.floor(f.drawing.clientWidth - 13);
    if ((!f.dirty && f.width === width) || width < 60) return;
    f.dirty = false;
    f.width = width;
    const svg = f.draw(width);
    f.svg = svg;
    f.drawing.replaceChildren(svg ?? make("p", { className: "empty", textContent: "No values." }));
    f.drawing.style.minHeight = "";
    if (svg) { svg.setAttribute("role", "img"); svg.setAttribute("aria-label", f.title); }
  }
  function repaint() {
    for (const f of figures) { f.dirty = true; if (f.seen) paint(f); }
  }
  function clear(host) {
    figures = figures.filter((f) => { if (!host.contains(f.node)) return true; visible.unobserve(f.node); return false; });
    host.replaceChildren();
    return host;
  }
  new ResizeObserver(() => { for (const f of figures) if (f.seen) paint(f); }).observe($("main"));

  function hover(f, ev) {
    if (!f.svg || !f.svg.hover) return;
    const box = f.svg.getBoundingClientRect();
    const at = f.svg.hover(ev.clientX - box.left, ev.clientY - box.top);
    if (!at) { hideTip(); highlight(-1); return; }
    const tip = $("tip");
    tip.replaceChildren(make("b", { textContent: at.name }), ...at.lines().map((l) => make("div", { textContent: l })));
    tip.hidden = false;
    const w = tip.offsetWidth, h = tip.offsetHeight;
    const x = Math.min(ev.clientX + 14, root.clientWidth - w - 6), y = ev.clientY + 16 + h > innerHeight ? ev.clientY - h - 10 : ev.clientY + 16;
    tip.style.left = Math.max(4, x) + scrollX + "px";
    tip.style.top = y + scrollY + "px";
    highlight(at.agent ?? -1);
  }
  const hideTip = () => { $("tip").hidden = true; };
  function highlight(a) {
    if (a === state.focus) return;
    state.focus = a;
    for (const f of figures) if (f.seen && f.svg && f.svg.mark) f.svg.mark(a);
  }

  // ---- downloads
  const fileName = (f, ending) => `${D.name}-${f.title}`.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase().slice(0, 100) + ending;
  function save(name, blob) {
    const url = URL.createObjectURL(blob);
    const a = make("a", { href: url, download: name });
    document.body.append(a);
    a.click();
    a.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }
  // The drawing by itself: with its title, its ground and its colours.
  function standalone(f) {
    if (!f.svg) { f.seen = true; paint(f); }
    if (!f.svg) return null;
    const copy = f.svg.cloneNode(true);
    for (const mark of copy.querySelectorAll(".focus")) mark.remove();
    const w = Number(f.svg.getAttribute("width")), h = Number(f.svg.getAttribute("height"));
    const title = wrap(f.title, w - 16, "600 14px sans-serif");
    // The names of coloured lines, in rows.
    const names = [], agents = f.svg.lines ?? [];
    let nameX = 8, nameY = 12 + 19 * title.length;
    for (const a of agents) {
      const name = fit(D.agents[a], w - 60), wide = 34 + measure(name) + 16;
      if (nameX > 8 && nameX + wide > w) { nameX = 8; nameY += 18; }
      names.push({ a, name, x: nameX, y: nameY });
      nameX += wide;
    }
    if (f.svg.grey > 0) {
      const name = `and ${plural(f.svg.grey, "agent", "agents")} in grey`;
      if (nameX > 8 && nameX + measure(name) > w) { nameX = 8; nameY += 18; }
      names.push({ a: -1, name, x: nameX - 34, y: nameY });
    }
    const head = names.length ? nameY + 14 : 7 + 19 * title.length;
    const out = d3.create("svg:svg").attr("width", w).attr("height", h + head).attr("viewBox", `0 0 ${w} ${h + head}`)
      .attr("style", `--ink: ${css("--ink")}; --faint: ${css("--faint")}; color: ${css("--ink")}; font-family: sans-serif`);
    out.append("rect").attr("width", w).attr("height", h + head).attr("fill", css("--ground"));
    title.forEach((line, i) => out.append("text").attr("x", 8).attr("y", 18 + 19 * i).attr("font-size", 14).attr("font-weight", 600).attr("fill", css("--ink")).text(line));
    for (const { a, name, x, y } of names) {
      if (a >= 0) out.append("line").attr("x1", x).attr("x2", x + 28).attr("y1", y).attr("y2", y).attr("stroke", colorOf(a)).attr("stroke-width", 3).attr("stroke-dasharray", dashOf(a) || null);
      if (a >= 0) addMark(out, a, x + 14, y);
      out.append("text").attr("x", x + 34).attr("y", y + 4).attr("font-size", 12).attr("fill", css("--ink")).text(name);
    }
    copy.setAttribute("y", head);
    out.node().append(copy);
    return { text: new XMLSerializer().serializeToString(out.node()), w, h: h + head };
  }
  function saveSVG(f) {
    const s = standalone(f);
    if (s) save(fileName(f, ".svg"), new Blob([s.text], { type: "image/svg+xml" }));
  }
  function savePNG(f) {
    const s = standalone(f);
    if (!s) return;
    const image = new Image();
    image.onload = () => {
      const scale = Math.min(2, 16000 / s.h);
      const canvas = make("canvas", { width: s.w * scale, height: s.h * scale });
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((b) => save(fileName(f, ".png"), b));
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(s.text);
  }
  const cell = (v) => { const s = v == null || Number.isNaN(v) ? "" : String(v); return /[",\n\r]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s; };
  const saveRows = (name, rows) => save(name, new Blob([rows.map((r) => r.map(cell).join(",")).join("\r\n") + "\r\n"], { type: "text/csv" }));
  const saveCSV = (f) => saveRows(fileName(f, ".csv"), f.csv());

  // section returns the empty grid of a section with figures. Without one of that id in the
  // page it makes it before the results, with a legend, a grid and a place for tables.
  function section(id, title, text, shows = true) {
    let host = $(id);
    if (!host) {
      host = make("section", { id }, make("h2", { id: `${id}-title`, textContent: title }), make("p", { textContent: text }),
        make("ul", { className: "legend" }), make("div", { className: "grid" }), make("div", { className: "tables" }));
      host.setAttribute("aria-labelledby", `${id}-title`);
      host.querySelector(".legend").setAttribute("aria-label", "Agents in colour");
      $("results").before(host);
    }
    host.hidden = !shows;
    return clear(host.querySelector(".grid"));
  }

  // ---- drawings: intervals, a row an item
  const rowHeight = 19;
  // items: {label, value, low, high, color, agent, word, lines()}
  function intervals(items, { width, label, reference, optimum, bounds }) {
    if (!items.length) return null;
    let lo = Infinity, hi = -Infinity;
    for (const it of items) for (const v of [it.value, it.low, it.high]) if (ok(v)) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
    if (lo > hi) return null;
    // An optimum that is far away stands outside: differences would not be seen.
    const far = ok(optimum) && hi - lo < 0.1 * (Math.max(hi, optimum) - Math.min(lo, optimum));
    for (const v of [reference, far ? NaN : optimum]) if (ok(v)) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
    const words = items.some((it) => it.word);
    const marginRight = words ? Math.max(...items.map((it) => measure(it.word))) + 16 : 14;
    const shared = beginning(items.map((it) => it.label));
    const names = items.map((it) => fit(it.label, (width - marginRight) * 0.52 - 2, shared));
    const space = Math.max(...names.map(measure)) + 2;
    const marginLeft = Math.ceil(space) + 12, marginTop = 30, marginBottom = ok(optimum) ? 20 : 4;
    const [a, b] = padded(lo, hi);
    const x = axis(false, bounds ? [Math.max(a, bounds[0]), Math.min(b, bounds[1])] : [a, b], Math.max(2, Math.min(8, (width - marginLeft - marginRight) / 75)));
    const rows = items.map((_, i) => i);
    const svg = Plot.plot({
      width, height: rowHeight * items.length + marginTop + marginBottom, marginLeft, marginTop,
      marginRight: Math.max(marginRight, widest(x) / 2 + 2), // the last label of the axis may stand at its end
      marginBottom, style: style(),
      x: { ...x, label: null, axis: null }, y: { type: "band", domain: rows, padding: 0, axis: null },
      marks: [
        Plot.gridX(x.ticks, { stroke: css("--rule"), strokeOpacity: 1 }),
        Plot.axisX(x.ticks, { anchor: "top", tickFormat: x.tickFormat, label, labelAnchor: "right", labelOffset: 28, labelArrow: "none", tickSize: 0, tickPadding: 3 }),
        Plot.ruleX([reference, far ? NaN : optimum].filter(ok), { stroke: css("--soft"), strokeDasharray: "3 3" }),
        ok(optimum) && !far ? Plot.text([optimum], { x: (v) => v, frameAnchor: "bottom", dy: 15, textAnchor: optimum > (lo + hi) / 2 ? "end" : "start", dx: optimum > (lo + hi) / 2 ? 6 : -6, text: () => "optimum", fill: css("--soft") }) : null,
        far ? Plot.text([optimum], { frameAnchor: optimum > hi ? "bottom-right" : "bottom-left", dy: 15, text: (v) => optimum > hi ? `optimum ${num(v)} →` : `← optimum ${num(v)}`, fill: css("--soft") }) : null,
        Plot.axisY(rows, { tickSize: 0, tickPadding: 8, tickFormat: (i) => names[i], label: null }),
        Plot.ruleY(rows.filter((i) => ok(items[i].low)), { y: (i) => i, x1: (i) => items[i].low, x2: (i) => items[i].high, stroke: (i) => items[i].color, strokeWidth: 3.5, strokeLinecap: "round", strokeOpacity: 0.55 }),
        Plot.dot(rows, { y: (i) => i, x: (i) => items[i].value, fill: (i) => items[i].color, r: 4 }),
        words ? Plot.text(rows, { y: (i) => i, frameAnchor: "right", dx: marginRight - 2, textAnchor: "end", text: (i) => items[i].word, fill: (i) => items[i].color === css("--faint") ? css("--soft") : items[i].color }) : null,
      ],
    });
    svg.hover = (px, py) => {
      const it = items[Math.floor((py - marginTop) / rowHeight)];
      return it && { name: it.label, agent: it.agent, lines: it.lines };
    };
    const at = new Map(items.map((it, i) => [it.agent, i]));
    svg.mark = (agent) => {
      d3.select(svg).selectAll(".focus").remove();
      if (!at.has(agent)) return;
      d3.select(svg).insert("rect", "*").attr("class", "focus").attr("x", 0).attr("y", marginTop + rowHeight * at.get(agent)).attr("width", width).attr("height", rowHeight).attr("fill", css("--accent")).attr("fill-opacity", 0.13);
    };
    return svg;
  }

  // All items of a long list at once: a thin interval each, from the best to the worst.
  function strip(items, { width, label }) {
    const values = items.flatMap((it) => [it.value, it.low, it.high]).filter(ok).sort((a, b) => a - b);
    if (!values.length) return null;
    const y = axis(false, padded(d3.quantileSorted(values, 0.005), d3.quantileSorted(values, 0.995)), 4);
    const marginLeft = widest(y) + 14, height = 150, marginTop = 20;
    const svg = Plot.plot({
      width, height, marginLeft, marginRight: 14, marginTop, marginBottom: 26, style: style(), clip: true,
      x: { domain: [0, items.length - 1], axis: null }, y: { ...y, axis: null },
      marks: [
        Plot.gridY(y.ticks, { stroke: css("--rule"), strokeOpacity: 1 }),
        Plot.axisY(y.ticks, { tickFormat: y.tickFormat, label, labelAnchor: "top", labelArrow: "none", tickSize: 0, clip: false }),
        Plot.text([`all ${count(items.length)}, sorted: best at the left`], { frameAnchor: "bottom", dy: 18, fill: css("--soft"), clip: false }),
        Plot.areaY(items, { x: (_, i) => i, y1: "low", y2: "high", fill: css("--faint"), fillOpacity: 0.55 }),
        Plot.lineY(items, { x: (_, i) => i, y: "value", stroke: css("--soft"), strokeWidth: 1.5 }),
        Plot.dot(items.map((it, i) => ({ ...it, i })).filter((it) => slot.has(it.agent)), { x: "i", y: "value", fill: "color", r: 3 }),
      ],
    });
    const scale = svg.scale("x"), yScale = svg.scale("y");
    svg.hover = (px) => {
      const it = items[Math.max(0, Math.min(items.length - 1, Math.round(scale.invert(px))))];
      return { name: it.label, agent: it.agent, lines: it.lines };
    };
    const at = new Map(items.map((it, i) => [it.agent, i]));
    svg.mark = (agent) => {
      d3.select(svg).selectAll(".focus").remove();
      const i = at.get(agent);
      if (i == null || !ok(items[i].value)) return;
      d3.select(svg).append("circle").attr("class", "focus").attr("cx", scale.apply(i)).attr("cy", yScale.apply(items[i].value)).attr("r", 5).attr("fill", "none").attr("stroke", css("--ink")).attr("stroke-width", 2);
    };
    return svg;
  }

  // ---- drawings: a line an agent
  // lines: {agents, xs, mean(agent) → Float32Array part, low, high}
  const mostBands = 8; // more bands hide each other: then only the line pointed at has one
  const mostLines = 60; // more grey lines are one area: their quantiles are drawn instead
  const quantiles = (agents, n, at) => {
    const out = [0.05, 0.25, 0.5, 0.75, 0.95].map(() => new Float64Array(n).fill(NaN));
    for (let k = 0; k < n; k++) {
      const values = agents.map((a) => at(a, k)).filter(ok).sort((x, y) => x - y);
      if (values.length) [0.05, 0.25, 0.5, 0.75, 0.95].forEach((p, i) => { out[i][k] = d3.quantileSorted(values, p); });
    }
    return out;
  };
  function curves({ width, height, agents, xs, at, logx, logy, bands, xLabel, yLabel, reference, bounds, whole, step, names, dots }) {
    const n = xs.length, few = slot.size <= mostBands;
    const colored = agents.filter((a) => slot.has(a)), rest = agents.filter((a) => !slot.has(a));
    const usable = (v) => ok(v) && (!logy || v > 0);
    let lo = Infinity, hi = -Infinity, low = Infinity, high = -Infinity;
    for (const a of colored) for (let k = 0; k < n; k++) {
      const v = at.mean(a, k);
      if (!usable(v)) continue;
      lo = Math.min(lo, v); hi = Math.max(hi, v);
      const l = at.low(a, k), h = at.high(a, k);
      if (bands && few && usable(l) && usable(h)) { low = Math.min(low, l); high = Math.max(high, h); }
    }
    const live = at.live ? agents.filter((a) => { for (let k = 0; k < n; k++) if (usable(at.live(a, k))) return true; return false; }) : [];
    for (const a of live) for (let k = 0; k < n; k++) { const v = at.live(a, k); if (usable(v)) { lo = Math.min(lo, v); hi = Math.max(hi, v); } }
    if (rest.length) { // of the grey ones all but the odd ones
      const sample = [], skip = Math.max(1, Math.floor(rest.length * n / 20000));
      for (let i = 0; i < rest.length * n; i += skip) { const v = at.mean(rest[Math.floor(i / n)], i % n); if (usable(v)) sample.push(v); }
      if (sample.length) { sample.sort((x, y) => x - y); lo = Math.min(lo, d3.quantileSorted(sample, 0.02)); hi = Math.max(hi, d3.quantileSorted(sample, 0.98)); }
    }
    if (lo > hi) return null;
    if (ok(reference) && usable(reference)) { lo = Math.min(lo, reference); hi = Math.max(hi, reference); }
    const span = hi - lo; // bands count up to the lines' own height beyond them
    if (!logy && low <= high) { lo = span > 0 ? Math.min(lo, Math.max(low, lo - span)) : Math.min(lo, low); hi = span > 0 ? Math.max(hi, Math.min(high, hi + span)) : Math.max(hi, high); }
    let domain = logy ? [lo / 1.1, hi * 1.1] : padded(lo, hi);
    if (bounds && !logy) domain = [Math.max(domain[0], bounds[0]), Math.min(domain[1], bounds[1])];
    if (whole) domain = bounds;
    const y = axis(logy, domain, Math.max(3, Math.min(7, height / 45)));
    const marginLeft = Math.ceil(widest(y)) + 16;
    // A logarithmic axis begins where values do: evaluations come late.
    const valued = (k) => agents.some((a) => usable(at.mean(a, k)) || at.live && usable(at.live(a, k)));
    const first = logx ? xs.find((x, k) => x > 0 && valued(k)) ?? xs.find((x) => x > 0) : (xs[0] < 0.05 * xs[n - 1] ? 0 : xs[0]);
    const x = axis(logx && xs[n - 1] > first, xs[n - 1] > first ? [first, xs[n - 1]] : [first - 1, first + 1], Math.max(2, Math.min(8, (width - marginLeft) / 80)));
    if (names) Object.assign(x, { ticks: sparse(xs, width - marginLeft, 70), tickFormat: (i) => fit(names[i], 90) });
    const marginTop = 24, marginBottom = 36;
    // Above a line this near to the top there is no room for its name.
    const scaled = logy ? Math.log : Number;
    const atTop = (v) => (scaled(domain[1]) - scaled(v)) / (scaled(domain[1]) - scaled(domain[0])) * (height - marginTop - marginBottom) < 16;
    // One path for all grey lines, with gaps between them.
    const gx = new Float64Array(rest.length * (n + 1)), gy = new Float64Array(rest.length * (n + 1)).fill(NaN);
    const area = rest.length > mostLines ? quantiles(rest, n, (a, k) => { const v = at.mean(a, k); return usable(v) ? v : NaN; }) : null;
    if (!area) rest.forEach((a, i) => { for (let k = 0; k < n; k++) { gx[i * (n + 1) + k] = xs[k]; const v = at.mean(a, k); if (usable(v)) gy[i * (n + 1) + k] = v; } });
    const liveEnd = (a) => { let k = n - 1; while (k > 0 && !usable(at.live(a, k))) k--; return k; };
    const ks = d3.range(n);
    const value = (f, a) => ks.map((k) => { const v = f(a, k); return usable(v) ? v : NaN; });
    // Of a band on a logarithmic axis, what is not above 0 is cut off.
    const end = (f) => (a, k) => { const v = f(a, k); return ok(v) ? v : at.mean(a, k); }; // runs that are all equal: a band without width
    const lowEnd = end(at.low), highEnd = end(at.high);
    const lower = (a) => ks.map((k) => { const v = lowEnd(a, k); return logy && ok(v) ? Math.max(v, domain[0]) : v; });
    const svg = Plot.plot({
      width, height, marginLeft, marginRight: 14, marginTop, marginBottom, style: style(), clip: true,
      x: { ...x, axis: null }, y: { ...y, axis: null },
      marks: [
        Plot.gridX(x.ticks, { stroke: css("--rule"), strokeOpacity: 1 }), Plot.gridY(y.ticks, { stroke: css("--rule"), strokeOpacity: 1 }),
        Plot.axisX(x.ticks, { tickFormat: x.tickFormat, label: xLabel, labelAnchor: "right", labelArrow: "none", tickSize: 0, clip: false }),
        Plot.axisY(y.ticks, { tickFormat: y.tickFormat, label: yLabel, labelAnchor: "top", labelArrow: "none", tickSize: 0, clip: false }),
        ...(area ? [[0, 4], [1, 3]].map(([l, h]) => Plot.areaY({ length: n }, { x: xs, y1: area[l], y2: area[h], fill: css("--faint"), fillOpacity: 0.4 })) : []),
        area ? Plot.line({ length: n }, { x: xs, y: area[2], stroke: css("--soft"), strokeWidth: 1.2 }) : null,
        rest.length && !area ? Plot.line({ length: gx.length }, { x: gx, y: gy, stroke: css("--faint"), strokeWidth: rest.length > 100 ? 0.7 : 1, strokeOpacity: Math.max(0.18, Math.min(0.8, 30 / rest.length)) }) : null,
        ok(reference) ? Plot.ruleY([reference], { stroke: css("--soft"), strokeDasharray: "3 3" }) : null,
        ok(reference) && usable(reference) ? Plot.text([reference], { y: (v) => v, frameAnchor: "left", dx: 4, dy: atTop(reference) ? 9 : -8, text: () => "optimum", fill: css("--soft"), stroke: css("--ground"), strokeWidth: 3 }) : null,
        ...(bands && few ? colored.map((a) => Plot.areaY({ length: n }, { x: xs, y1: lower(a), y2: value(highEnd, a), fill: colorOf(a), fillOpacity: colored.length <= 3 ? 0.18 : 0.54 / colored.length })) : []), // many bands would be mud
        ...colored.map((a) => Plot.line({ length: n }, { x: xs, y: value(at.mean, a), stroke: colorOf(a), strokeWidth: 1.8, strokeDasharray: dashOf(a) || null, marker: n === 1 || dots ? "dot" : null })),
        ...live.flatMap((a) => [
          Plot.line({ length: n }, { x: xs, y: value(at.live, a), stroke: colorOf(a), strokeWidth: 1.6, strokeDasharray: "1 3", strokeLinecap: "round" }),
          Plot.dot([liveEnd(a)], { x: (k) => xs[k], y: (k) => at.live(a, k), stroke: colorOf(a), fill: css("--ground"), r: 3.5, strokeWidth: 1.6 }),
        ]),
      ],
    });
    svg.lines = [...colored].sort((a, b) => slot.get(a) - slot.get(b));
    svg.grey = rest.length;
    const sx = svg.scale("x"), sy = svg.scale("y");
    const px = xs.map((v) => logx && !(v > 0) ? NaN : sx.apply(v));
    // Some marks on each line, not at the same steps as on others.
    if (colored.length > 1 && n > 4) colored.forEach((a) => {
      const each = (px[n - 1] - px[xs.findIndex((v) => !logx || v > 0)]) / 5, shift = (slot.get(a) % marks.length + 0.5) / marks.length;
      let last = -1;
      for (let i = 0; i < 5; i++) {
        const to = px[n - 1] - each * (5 - i - shift);
        let best = -1;
        for (let k = 0; k < n; k++) if (ok(px[k]) && usable(at.mean(a, k)) && (best < 0 || Math.abs(px[k] - to) < Math.abs(px[best] - to))) best = k;
        if (best < 0 || best === last) continue;
        last = best;
        const v = sy.apply(at.mean(a, best));
        if (v >= marginTop && v <= height - marginBottom) addMark(d3.select(svg), a, px[best], v);
      }
    });
    const near = (p) => { let best = 0; for (let k = 1; k < n; k++) if (Math.abs(px[k] - p) < Math.abs(px[best] - p)) best = k; return best; };
    svg.hover = (p, q) => {
      const k = near(p), v = sy.invert(q);
      let best = -1, distance = Infinity, going = false;
      for (const f of live.length ? [at.mean, at.live] : [at.mean]) for (const a of agents) {
        const m = f(a, k);
        if (!usable(m)) continue;
        const d = Math.abs(logy ? Math.log(m / v) : m - v) * (slot.has(a) ? 0.6 : 1); // coloured lines are easier to hit
        if (d < distance) { distance = d; best = a; going = f === at.live; }
      }
      if (best < 0 || Math.abs(sy.apply((going ? at.live : at.mean)(best, k)) - q) > 60) return null;
      return { name: D.agents[best], agent: best, lines: () => [going ? `${num(at.live(best, k))}, of runs that are not finished` : text(at.mean(best, k), at.low(best, k), at.high(best, k)), step(xs[k])] };
    };
    svg.mark = (a) => {
      d3.select(svg).selectAll(".focus").remove();
      if (a < 0 || !agents.includes(a)) return;
      const part = (f) => d3.line().defined((k) => usable(f(a, k)) && ok(px[k])).x((k) => px[k]).y((k) => sy.apply(f(a, k)))(ks);
      const area = d3.area().defined((k) => usable(lowEnd(a, k)) && usable(highEnd(a, k))).x((k) => px[k]).y0((k) => sy.apply(lowEnd(a, k))).y1((k) => sy.apply(highEnd(a, k)))(ks);
      const g = d3.select(svg).append("g").attr("class", "focus").attr("pointer-events", "none").attr("clip-path", svg.querySelector("[clip-path]")?.getAttribute("clip-path"));
      const color = slot.has(a) ? colorOf(a) : css("--ink");
      if (area) g.append("path").attr("d", area).attr("fill", color).attr("fill-opacity", 0.25);
      const d = part(at.mean);
      if (d) g.append("path").attr("d", d).attr("fill", "none").attr("stroke", css("--ground")).attr("stroke-width", 5);
      if (d) g.append("path").attr("d", d).attr("fill", "none").attr("stroke", color).attr("stroke-width", 2.6);
    };
    return svg;
  }

  const boundsOf = (holder) => { const [low, high] = holder.bounds; return low === high ? null : [low ?? -Infinity, high ?? Infinity]; }; // one possible value is no axis

  function curveFigure(host, e, m, height, title) {
    const holder = curvesOf(e, m), n = D.steps.length, def = D.metrics[m];
    if (!holder) return;
    const at = {
      mean: (a, k) => column(holder, "mean")[a * n + k],
      low: (a, k) => column(holder, "low")[a * n + k],
      high: (a, k) => column(holder, "high")[a * n + k],
      live: holder.live ? (a, k) => column(holder, "live")[a * n + k] : null, // of runs that are not finished
    };
    const has = (f, a) => { for (let k = 0; k < n; k++) if (ok(f(a, k))) return true; return false; };
    const list = () => shown.filter((a) => has(at.mean, a) || at.live && has(at.live, a));
    figure(host, {
      title, alone: `${def.title} over ${D.axis}: ${D.environments[e]}`, height,
      draw: (width) => curves({
        width, height, agents: list(), xs: D.steps, at, logx: state.logx, logy: state.logy, bands: state.bands, xLabel: holder.partial ? `${D.axis} (${holder.partial})` : D.axis, yLabel: def.axis + (def.width > 1 ? " (moving average)" : ""),
        reference: def.id === "reward" && D.optimum[e] != null ? D.optimum[e] : NaN, bounds: boundsOf(holder), step: (x) => `${D.axis.slice(0, -1)} ${count(x)}`,
      }),
      csv: () => [["environment", "agent", "step", "metric", "mean", "ci_low", "ci_high", "averaged_points"], // of finished runs
        ...list().flatMap((a) => D.steps.map((s, k) => [D.environments[e], D.agents[a], s, def.id, at.mean(a, k), at.low(a, k), at.high(a, k), def.width]))],
    });
  }

  // ---- tables
  const tables = new Map();
  // columns: {title, value(row), show(row), text}. filters: {label, options, test(row, chosen)}.
  function table(host, { columns, rows, caption, name, filters = [], first = 50 }) {
    const page = 50;
    let current = rows;
    // What the reader chose holds when there is more to show.
    const chosen = tables.get(name) ?? { limit: first, by: -1, up: true, values: [] };
    tables.set(name, chosen);
    let { limit, by, up } = chosen;
    const tools = make("div", { className: "tools" });
    const selects = filters.map((f, i) => {
      const s = make("select", {}, new Option("all", ""), ...f.options.map((o) => new Option(o.title, o.value)));
      if (chosen.values[i] != null) s.value = chosen.values[i];
      s.addEventListener("change", () => { chosen.values[i] = s.value; limit = page; fill(); });
      tools.append(make("label", {}, f.label + " ", s));
      return s;
    });
    const total = make("span", {}), csv = make("button", { type: "button", textContent: "CSV", title: "Download these rows as CSV" });
    csv.addEventListener("click", () => saveRows(`${D.name}-${name}.csv`, [columns.map((c) => c.title), ...current.map((r) => columns.map((c) => c.value(r)))]));
    tools.append(total, csv);
    const body = make("tbody"), more = make("button", { type: "button" });
    const heads = columns.map((c, i) => {
      const b = make("button", { type: "button", textContent: c.title });
      b.addEventListener("click", () => { up = by === i ? !up : true; by = i; limit = page; fill(); });
      const th = make("th", { scope: "col", className: c.text ? "text" : "" }, b);
      return th;
    });
    const box = make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: name },
      make("table", {}, make("caption", {}, make("span", { textContent: caption })), make("thead", {}, make("tr", {}, ...heads)), body));
    more.addEventListener("click", () => { limit += 4 * page; draw(); });
    host.replaceChildren(tools, box, more);
    function fill() {
      current = rows.filter((r) => filters.every((f, i) => !selects[i].value || f.test(r, selects[i].value)));
      heads.forEach((h, i) => h.setAttribute("aria-sort", i !== by ? "none" : up ? "ascending" : "descending"));
      if (by >= 0) {
        const keys = new Map(current.map((r) => [r, columns[by].value(r)]));
        const sign = up ? 1 : -1;
        current.sort((a, b) => {
          const x = keys.get(a), y = keys.get(b);
          if (typeof x === "string") return sign * x.localeCompare(y, "en", { numeric: true });
          return !ok(x) ? (ok(y) ? 1 : 0) : !ok(y) ? -1 : sign * (x - y); // without a value: last
        });
      }
      draw();
    }
    function draw() {
      Object.assign(chosen, { limit, by, up });
      body.replaceChildren(...current.slice(0, limit).map((r) => make("tr", {}, ...columns.map((c, i) => {
        const td = make(i === 0 ? "th" : "td", { className: (c.text ? "text" : "") + (c.cls ? " " + c.cls(r) : "") }, ...[c.show ? c.show(r) : c.value(r)].flat());
        if (i === 0) td.scope = "row";
        return td;
      }))));
      total.textContent = plural(current.length, "row", "rows");
      more.hidden = current.length <= limit;
      more.textContent = `Show ${count(Math.min(4 * page, current.length - limit))} more of ${count(current.length - limit)}`;
    }
    fill();
  }
  const estimate = (mean, low, high) => { const [a, b] = halves(mean, low, high); return b ? [a, make("span", { className: "pm", textContent: " ± " + b })] : [a]; };
  const byEnvironment = () => D.environments.length < 2 ? [] : [{ label: "Environment", options: D.environments.map((n, i) => ({ title: n, value: String(i) })), test: (r, v) => r.e === Number(v) }];

  // ---- sections
  const choose = (select, items, value) => {
    const key = JSON.stringify(items);
    if (select.items !== key) { select.items = key; select.replaceChildren(...items.map((x) => new Option(x.title, x.value))); }
    if (value != null && items.some((x) => x.value === String(value))) select.value = String(value);
  };
  const cut = (items) => state.rows === 0 || items.length <= Math.abs(state.rows) ? items : state.rows > 0 ? items.slice(0, state.rows) : items.slice(state.rows);

  // Items of an interval plot, the best first.
  function scoreItems(values, low, high, sign, lines) {
    return shown.filter((a) => ok(values[a])).sort((x, y) => sign * (values[y] - values[x]) || x - y)
      .map((a) => ({ label: D.agents[a], agent: a, value: values[a], low: low[a], high: high[a], color: colorOf(a), lines: () => lines(a) }));
  }
  function scorePanel(host, { title, alone, note, items, label, optimum, bounds }) {
    const all = items();
    host = host.appendChild(make("div", { className: "pair" }));
    const csv = () => [["agent", "value", "ci_low", "ci_high"], ...items().map((it) => [it.label, it.value, it.low, it.high])];
    if (all.length > 40) figure(host, { title, alone, note: [note, "all agents"].filter(Boolean).join(", "), height: 150, draw: (width) => strip(items(), { width, label }), csv });
    const rows = cut(all);
    const part = rows.length < all.length ? `${rows.length} ${state.rows > 0 ? "best" : "worst"} of ${count(all.length)}` : "";
    figure(host, {
      title, alone, note: [note, part].filter(Boolean).join(", "), height: rowHeight * rows.length + 40, tall: rows.length > 30,
      draw: (width) => intervals(cut(items()), { width, label, optimum, bounds }), csv,
    });
  }
  function drawScores() {
    const m = state.metric, def = metric(), host = clear(document.querySelector("#scores .grid")), o = overall();
    const direction = def.better > 0 ? "Higher is better." : def.better < 0 ? "Lower is better." : "Neither higher nor lower is better.";
    $("scores-text").textContent = `${def.text} ${direction} Points are means over runs, bars 95 % intervals; agents are sorted.`
      + (o ? " Over all environments: interquartile means of normalised scores." : "");
    $("scales").hidden = !o;
    if (o) $("scales").lastElementChild.replaceChildren(...D.comparison.scales.map((s) => make("li", { textContent: s })));
    const sign = def.better < 0 ? -1 : 1;
    if (o) {
      const lines = (a) => [`IQM ${text(column(o, "iqm")[a], column(o, "low")[a], column(o, "high")[a])}`, `optimality gap ${num(column(o, "gap")[a])}`];
      scorePanel(host, { title: "All environments", alone: `${def.title}: all environments`, note: "normalised", label: "IQM", items: () => scoreItems(column(o, "iqm"), column(o, "low"), column(o, "high"), 1, lines) });
    }
    if (!o && def.better !== 0 && D.environments.length > 1) {
      const ranks = meanRanks(m);
      const none = new Float32Array(D.agents.length).fill(NaN);
      scorePanel(host, { title: "All environments", alone: `${def.title}: all environments`, note: "by mean rank", label: "mean rank, 1 is best", items: () => scoreItems(ranks, none, none, -1, (a) => [`mean rank ${num(ranks[a])}`]) });
    }
    D.environments.forEach((name, e) => {
      const r = rowsOf(e, m);
      if (!r) return;
      const lines = (a) => [text(column(r, "mean")[a], column(r, "low")[a], column(r, "high")[a]), plural(column(r, "n")[a], "run", "runs")];
      scorePanel(host, {
        title: name, alone: `${def.title}: ${name}`, label: def.title.toLowerCase(), bounds: boundsOf(r), optimum: def.id === "reward" && D.optimum[e] != null ? D.optimum[e] : NaN,
        items: () => scoreItems(column(r, "mean"), column(r, "low"), column(r, "high"), sign, lines),
      });
    });
    host.classList.toggle("one", host.children.length === 1);
    document.querySelector("#scores .options").hidden = D.agents.length <= 10;
  }
  function drawLegend(section, agents = shown) {
    const list = document.querySelector(`#${section} .legend`), coloured = agents.filter((a) => slot.has(a)).sort((x, y) => slot.get(x) - slot.get(y));
    list.replaceChildren(...coloured.map((a) => {
      const sample = d3.create("svg:svg").attr("width", 28).attr("height", 10).attr("aria-hidden", "true");
      sample.append("line").attr("x2", 28).attr("y1", 5).attr("y2", 5).attr("stroke", colorOf(a)).attr("stroke-width", 3).attr("stroke-dasharray", dashOf(a));
      addMark(sample, a, 14, 5);
      const b = make("button", { type: "button", textContent: D.agents[a] });
      for (const on of ["pointerenter", "focus"]) b.addEventListener(on, () => highlight(a));
      for (const off of ["pointerleave", "blur"]) b.addEventListener(off, () => highlight(-1));
      return make("li", {}, sample.node(), b);
    }));
    const grey = agents.length - coloured.length;
    if (grey > 0) list.append(make("li", { className: "soft", textContent: `and ${plural(grey, "agent", "agents")} in grey${grey > mostLines ? ": median, 50 % and 90 % of them" : ""}` }));
  }
  const hasCurves = (m) => D.environments.some((_, e) => curvesOf(e, m));
  function drawCurves() {
    const host = clear(document.querySelector("#curves .grid"));
    let m = state.metric;
    if (!hasCurves(m)) m = D.metrics.findIndex((d, i) => d.id === "reward" && hasCurves(i)); // the final reward has no curve
    $("curves").hidden = m < 0;
    if (m < 0) return;
    const def = D.metrics[m];
    choose($("beside"), [{ title: "nothing", value: "" }, ...D.metrics.map((d, i) => ({ title: d.title, value: String(i) })).filter((_, i) => i !== m && hasCurves(i))], state.beside);
    state.beside = $("beside").value;
    $("curves-text").textContent = `${def.title} over ${D.axis}: means over runs${def.width > 1 ? `, averaged over the last ${def.width} of ${D.points} points` : ""}${state.bands && slot.size <= mostBands ? ", with 95 % intervals" : ""}. ${slot.size < shown.length ? "In colour are the best agents over all environments. " : ""}Point at a line for its name, value and interval.${D.curves.some((c) => c.live) ? " Dotted lines that end in a ring are means of runs that are not finished; they are in no other number." : ""}`;
    drawLegend("curves");
    $("bands").disabled = slot.size > mostBands;
    $("bands").parentElement.title = slot.size > mostBands ? `More than ${mostBands} bands hide each other: only the line that you point at has one.` : "";
    const besides = state.beside === "" ? [] : [Number(state.beside)];
    host.classList.toggle("two", besides.length === 1); // a metric stands beside the other of its environment
    const single = D.environments.length + besides.length === 1;
    D.environments.forEach((name, e) => [m, ...besides].forEach((k) => curveFigure(host, e, k, single ? 380 : 250, besides.length ? `${name}: ${D.metrics[k].title.toLowerCase()}` : name)));
    host.classList.toggle("one", host.children.length === 1);
  }

  // A value of a parameter as a number, or null.
  const numeric = (values) => values.every((v) => v.trim() !== "" && ok(Number(v)));
  function drawSweeps() {
    $("sweeps").hidden = !D.sweeps.length;
    if (!D.sweeps.length) return;
    const host = clear(document.querySelector("#sweeps .grid"));
    choose($("sweep"), D.sweeps.map((s, i) => ({ title: s.environments ? `${s.name} (environments)` : s.name, value: String(i) })));
    const sweep = D.sweeps[Number($("sweep").value)];
    const count1 = (k) => new Set(sweep.values.map((v) => v[k])).size;
    const keys = sweep.keys.map((k, i) => ({ title: k, value: String(i) })).sort((a, b) => count1(b.value) - count1(a.value));
    choose($("key-x"), keys);
    const kx = Number($("key-x").value);
    choose($("key-y"), [...keys.filter((k) => k.value !== String(kx)), { title: "nothing else", value: "" }]);
    const ky = $("key-y").value === "" ? -1 : Number($("key-y").value);
    $("key-y").parentElement.hidden = sweep.keys.length < 2;
    $("sweep-kind").parentElement.hidden = ky < 0;
    $("sweep").parentElement.hidden = D.sweeps.length < 2;
    $("key-x").parentElement.hidden = sweep.keys.length < 2;
    const def = metric(), sign = def.better < 0 ? -1 : 1;
    const others = sweep.keys.filter((_, i) => i !== kx && i !== ky);
    drawLegend("sweeps", sweep.environments && !(ky >= 0 && $("sweep-kind").value === "map") ? shown : []);
    if (sweep.environments) { drawEnvironmentSweep(host, sweep, kx, ky); return; }
    $("sweeps-text").textContent = `${def.title} of ${sweep.name} by ${sweep.keys[kx]}${ky < 0 ? "" : " and " + sweep.keys[ky]}.${others.length ? ` Of ${others.join(", ")} the best value is taken, which favours combinations with more values.` : ""}`;
    const distinct = (k) => { const vs = [...new Set(sweep.values.map((v) => v[k]))]; return numeric(vs) ? vs.sort((a, b) => a - b) : vs; };
    const xs = distinct(kx), ys = ky < 0 ? [""] : distinct(ky);
    D.environments.forEach((name, e) => {
      const r = rowsOf(e, state.metric);
      if (!r) return;
      const cells = () => {
        const best = new Map(), mean = column(r, "mean");
        sweep.agents.forEach((a, i) => {
          if (!ok(mean[a])) return;
          const key = sweep.values[i][kx] + "\u0000" + (ky < 0 ? "" : sweep.values[i][ky]), was = best.get(key);
          if (was == null || sign * (mean[a] - mean[was]) > 0) best.set(key, a);
        });
        return [...best].map(([key, a]) => { const [x, y] = key.split("\u0000"); return { x, y, a, value: mean[a], low: column(r, "low")[a], high: column(r, "high")[a] }; });
      };
      const map = ky >= 0 && $("sweep-kind").value === "map";
      figure(host, {
        title: name, alone: `${def.title} of ${sweep.name} by ${[kx, ky].filter((k) => k >= 0).map((k) => lastPart(sweep.keys[k])).join(" and ")}: ${name}`, height: 250,
        draw: (width) => map ? heatMap(cells(), { width, xs, ys, kx: sweep.keys[kx], ky: sweep.keys[ky], sign }) : sweepLines(cells(), { width, xs, ys, kx: sweep.keys[kx], ky: ky < 0 ? "" : sweep.keys[ky], def }),
        csv: () => [[sweep.keys[kx], ...(ky < 0 ? [] : [sweep.keys[ky]]), "agent", "value", "ci_low", "ci_high"],
          ...cells().map((c) => [c.x, ...(ky < 0 ? [] : [c.y]), D.agents[c.a], c.value, c.low, c.high])],
      });
    });
    host.classList.toggle("one", host.children.length === 1);
  }
  // Environments that differ in a parameter: a line an agent across it, or a heat map an
  // agent of those in colour. Values of the other parameters have a figure each.
  function drawEnvironmentSweep(host, sweep, kx, ky) {
    const def = metric(), sign = def.better < 0 ? -1 : 1, map = ky >= 0 && $("sweep-kind").value === "map";
    const distinct = (k) => { const vs = [...new Set(sweep.values.map((v) => v[k]))]; return numeric(vs) ? vs.sort((a, b) => a - b) : vs; };
    const xs = distinct(kx);
    const rest = (i) => sweep.keys.map((key, k) => k === kx || map && k === ky ? "" : `${lastPart(key)} ${sweep.values[i][k]}`).filter(Boolean).join(", ");
    const at = d3.groups(sweep.environments.map((e, i) => ({ e, i, r: rowsOf(e, state.metric) })).filter((p) => p.r), (p) => rest(p.i));
    $("sweeps-text").textContent = `${def.title} across ${sweep.keys[kx]}${map ? ` and ${sweep.keys[ky]}` : ""} of the environments.${slot.size < shown.length ? " In colour are the best agents over all environments." : ""}`;
    const cell = (a, p) => ({ x: sweep.values[p.i][kx], y: map ? sweep.values[p.i][ky] : D.agents[a], a, value: column(p.r, "mean")[a], low: column(p.r, "low")[a], high: column(p.r, "high")[a] });
    const csv = (cells) => () => [["agent", sweep.keys[kx], ...(map ? [sweep.keys[ky]] : []), "value", "ci_low", "ci_high"], ...cells().map((c) => [D.agents[c.a], c.x, ...(map ? [c.y] : []), c.value, c.low, c.high])];
    for (const [others, points] of at) {
      if (map) {
        for (const a of slot.keys()) {
          const cells = () => points.map((p) => cell(a, p)).filter((c) => ok(c.value));
          figure(host, { title: D.agents[a], alone: `${def.title} by ${lastPart(sweep.keys[kx])} and ${lastPart(sweep.keys[ky])}: ${D.agents[a]}`, note: others, height: 250, csv: csv(cells), draw: (width) => heatMap(cells(), { width, xs, ys: distinct(ky), kx: sweep.keys[kx], ky: sweep.keys[ky], sign }) });
        }
        continue;
      }
      const cells = () => shown.flatMap((a) => points.map((p) => cell(a, p))).filter((c) => ok(c.value));
      figure(host, { title: others || sweep.name, alone: `${def.title} by ${lastPart(sweep.keys[kx])}: ${others || sweep.name}`, height: 300, csv: csv(cells), draw: (width) => agentLines(points, { width, xs, kx: sweep.keys[kx], sweep, index: kx, def }) });
    }
    host.classList.toggle("one", host.children.length === 1);
  }
  // A line an agent over a parameter of environments.
  function agentLines(points, { width, xs, kx, sweep, index, def }) {
    const number = numeric(xs), values = number ? xs.map(Number) : xs.map((_, i) => i);
    const at = xs.map((x) => points.find((p) => sweep.values[p.i][index] === x));
    const f = (key) => (a, k) => at[k] ? column(at[k].r, key)[a] : NaN;
    const log = number && values[0] > 0 && values.at(-1) / values[0] >= 20;
    return curves({
      width, height: 300, agents: shown, xs: values, at: { mean: f("mean"), low: f("low"), high: f("high") }, logx: log, bands: state.bands, xLabel: lastPart(kx), yLabel: def.title.toLowerCase(),
      names: number ? null : xs, dots: xs.length <= 30, step: (x) => `${lastPart(kx)} ${number ? num(x) : xs[x]}`,
    });
  }
  const lastPart = (key) => key.split(".").pop();
  // Every so many labels of an ordinal axis, so that they do not touch.
  const sparse = (labels, size, least) => { const every = Math.max(1, Math.ceil(labels.length * least / size)); return labels.filter((_, i) => i % every === 0); };
  // With shares, values are shares of which none is the best.
  function heatMap(cells, { width, xs, ys, kx, ky, sign, shares = false }) {
    if (!cells.length) return null;
    const [least, hi] = d3.extent(cells, (c) => c.value), lo = shares ? 0 : least;
    const marginLeft = Math.min(90, Math.max(...ys.map(measure)) + 14), marginTop = 24, marginBottom = 64;
    const height = Math.max(180, Math.min(340, ys.length * 22)) + marginTop + marginBottom;
    const wide = Math.max(...xs.map(measure)) + 10;
    const best = cells.reduce((a, b) => sign * (b.value - a.value) > 0 ? b : a);
    const color = d3.scaleSequential(sign > 0 ? [lo, hi] : [hi, lo], d3.interpolateViridis);
    const inner = (width - marginLeft - 10) / xs.length, tall = (height - marginTop - marginBottom) / ys.length;
    const written = inner > 44 && tall > 15;
    // Three digits of the largest, and as many decimals of all.
    const most = Math.max(Math.abs(lo), Math.abs(hi)), decimals = Math.max(0, 2 - Math.floor(Math.log10(most)));
    const three = (v) => !(most > 1e-4 && most < 1e6) ? num(Number(v.toPrecision(3))) : minus(decimal(v, "fixed" + decimals, { minimumFractionDigits: decimals, maximumFractionDigits: decimals }));
    const svg = Plot.plot({
      width, height, marginLeft, marginRight: 10, marginTop, marginBottom, style: style(), padding: 0,
      x: { domain: xs, axis: null }, y: { domain: [...ys].reverse(), axis: null },
      marks: [
        Plot.cell(cells, { x: "x", y: "y", fill: (c) => color(c.value), inset: xs.length > 25 || ys.length > 25 ? 0 : 0.5 }),
        shares ? null : Plot.cell([best], { x: "x", y: "y", fill: "none", stroke: css("--ink"), strokeWidth: 2 }),
        written && !shares ? Plot.text(cells, { x: "x", y: "y", text: (c) => three(c.value), fill: (c) => (sign * (c.value - (lo + hi) / 2) > 0 ? "#1d2126" : "#ffffff"), fontSize: 11 }) : null,
        Plot.axisX(sparse(xs, width - marginLeft, Math.min(wide, 90)), { tickFormat: (v) => fit(v, 80), label: lastPart(kx), labelArrow: "none", labelAnchor: "right", labelOffset: 32, tickSize: 0 }),
        Plot.axisY(sparse(ys, height - marginTop - marginBottom, 15), { tickFormat: (v) => fit(v, marginLeft - 12), label: lastPart(ky), labelArrow: "none", labelAnchor: "top", tickSize: 0 }),
      ],
    });
    // The scale of colours, from the worst to the best.
    const at = d3.select(svg), x0 = marginLeft, y0 = height - 20, w = Math.min(160, width - marginLeft - 150);
    for (let i = 0; i < 40; i++) at.append("rect").attr("x", x0 + w * i / 40).attr("y", y0).attr("width", w / 40 + 0.5).attr("height", 9).attr("fill", d3.interpolateViridis(i / 39));
    at.append("text").attr("x", x0 + w + 6).attr("y", y0 + 9).attr("text-anchor", "start").attr("fill", "currentColor").text(shares ? `0 to ${percent(hi)}` : `${num(sign > 0 ? lo : hi)} to ${num(sign > 0 ? hi : lo)} (best)`);
    const bx = svg.scale("x"), by = svg.scale("y");
    const byKey = new Map(cells.map((c) => [c.x + "\u0000" + c.y, c]));
    svg.hover = (px, py) => {
      const i = Math.floor((px - bx.apply(xs[0])) / bx.step), j = Math.floor((py - by.apply([...ys].reverse()[0])) / by.step);
      const c = byKey.get(xs[i] + "\u0000" + ys[ys.length - 1 - j]);
      return c && { name: D.agents[c.a], agent: c.a, lines: () => [shares ? `state ${c.y}, ${c.x} of the run: ${percent(c.value)}` : text(c.value, c.low, c.high)] };
    };
    return svg;
  }
  const percent = (x) => `${(100 * x).toFixed(1)} %`;
  function sweepLines(cells, { width, xs, ys, kx, ky, def }) {
    if (!cells.length) return null;
    const number = numeric(xs), values = number ? xs.map(Number) : xs;
    const log = number && Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) >= 20;
    const lows = cells.map((c) => ok(c.low) ? c.low : c.value), highs = cells.map((c) => ok(c.high) ? c.high : c.value);
    const y = axis(false, padded(Math.min(...lows), Math.max(...highs)), 5);
    const marginLeft = widest(y) + 16, height = 270, right = ky ? 58 : 14;
    const color = (v) => ys.length === 1 ? (dark() ? paletteDark : palette)[0] : d3.interpolateViridis(0.08 + 0.84 * ys.indexOf(v) / (ys.length - 1));
    const x = number ? axis(log, values.length > 1 ? [values[0], values[values.length - 1]] : [values[0] - 1, values[0] + 1], Math.max(2, Math.min(6, width / 90))) : { type: "point", domain: xs, ticks: sparse(xs, width - marginLeft, 60), tickFormat: (v) => v };
    const data = cells.map((c) => ({ ...c, px: number ? Number(c.x) : c.x })).sort((a, b) => number ? a.px - b.px : xs.indexOf(a.px) - xs.indexOf(b.px));
    const ends = sparse(ys, height - 60, 15).map((v) => data.filter((c) => c.y === v).at(-1)).filter(Boolean);
    const svg = Plot.plot({
      width, height, marginLeft, marginRight: right, marginTop: 24, marginBottom: 36, style: style(),
      x: { ...x, axis: null }, y: { ...y, axis: null },
      marks: [
        Plot.gridY(y.ticks, { stroke: css("--rule"), strokeOpacity: 1 }),
        Plot.axisX(x.ticks, { tickFormat: x.tickFormat, label: lastPart(kx), labelAnchor: "right", labelArrow: "none", tickSize: 0 }),
        Plot.axisY(y.ticks, { tickFormat: y.tickFormat, label: def.title.toLowerCase(), labelAnchor: "top", labelArrow: "none", tickSize: 0 }),
        ys.length <= 6 ? Plot.areaY(data, { x: "px", y1: "low", y2: "high", z: "y", fill: (c) => color(c.y), fillOpacity: 0.15 }) : null,
        Plot.line(data, { x: "px", y: "value", z: "y", stroke: (c) => color(c.y), strokeWidth: 1.6 }),
        Plot.dot(data, { x: "px", y: "value", fill: (c) => color(c.y), r: xs.length > 20 ? 1.5 : 3 }),
        ky ? Plot.text([lastPart(ky)], { frameAnchor: "top-right", dx: right - 2, dy: -16, textAnchor: "end", fill: css("--soft") }) : null,
      ],
    });
    const sx = svg.scale("x"), sy = svg.scale("y");
    if (ky) { // each line's end leads to its label; labels keep apart
      const labels = ends.sort((a, b) => b.value - a.value).map((c) => ({ c, from: sy.apply(c.value), to: 0 }));
      labels.forEach((l, i) => { l.to = Math.max(l.from, i ? labels[i - 1].to + 13 : 24); });
      for (let i = labels.length - 1, most = height - 30; i >= 0; i--, most -= 13) labels[i].to = Math.min(labels[i].to, most);
      const at = d3.select(svg);
      for (const { c, from, to } of labels) {
        const x = sx.apply(c.px) + 4;
        at.append("path").attr("d", `M${x},${from}L${x + 10},${to}h5`).attr("fill", "none").attr("stroke", color(c.y)).attr("stroke-width", 1.6);
        at.append("text").attr("x", x + 18).attr("y", to + 4).attr("text-anchor", "start").attr("fill", css("--soft")).text(fit(c.y, right - 24));
      }
    }
    svg.hover = (px, py) => {
      let best = null, distance = 1e9;
      for (const c of data) { const d = Math.hypot(sx.apply(c.px) - px, sy.apply(c.value) - py); if (d < distance) { distance = d; best = c; } }
      return best && distance < 40 ? { name: D.agents[best.a], agent: best.a, lines: () => [text(best.value, best.low, best.high)] } : null;
    };
    return svg;
  }

  const verdict = (v) => v > 0 ? "better" : v < 0 ? "worse" : "not decided";
  const verdictColor = (v) => v > 0 ? css("--good") : v < 0 ? css("--bad") : css("--faint");
  function drawComparisons() {
    const c = D.comparison;
    $("comparisons").hidden = !c;
    if (!c) return;
    const def = D.metrics.find((m) => m.id === c.metric), host = clear(document.querySelector("#comparisons .grid")), over = clear($("over"));
    $("comparisons-text").textContent = `Of ${def ? def.title.toLowerCase() : c.metric}. ${c.method} ${c.notes.join(" ")}`;
    const rows = c.rows.filter((r) => inSet.has(r.a) && inSet.has(r.b) || inSet.has(r.a) && r.b === 0);
    const pairs = d3.groups(rows, (r) => r.a, (r) => r.b).flatMap(([a, list]) => list.map(([b, rs]) => ({ a, b, rs })));
    $("sentences").hidden = pairs.length > 20;
    $("sentences").replaceChildren(...(pairs.length > 20 ? [] : pairs).map(({ a, b, rs }) => {
      const n = (v) => rs.filter((r) => r.v === v).length, A = D.agents[a], B = D.agents[b];
      if (rs.length === 1) return make("li", { textContent: rs[0].v === 0 ? `It is not decided whether ${A} or ${B} is better.` : `${A} is ${verdict(rs[0].v)} than ${B}.` });
      const parts = [[1, "better"], [-1, "worse"]].filter(([v]) => n(v)).map(([v, w]) => `${w} in ${n(v)}`);
      if (n(0)) parts.push(`not decided in ${n(0)}`);
      return make("li", { textContent: `${A} against ${B}: ${parts.join(", ")} of ${rs.length} environments.` });
    }));
    const several = new Set(rows.map((r) => r.b)).size > 1;
    const label = (r) => several ? `${D.agents[r.a]} − ${D.agents[r.b]}` : D.agents[r.a];
    const sign = def && def.better < 0 ? -1 : 1;
    D.environments.forEach((name, e) => {
      const items = () => rows.filter((r) => r.e === e && r.d != null).sort((x, y) => sign * (y.d - x.d))
        .map((r) => ({ label: label(r), agent: r.a, value: r.d, low: r.low ?? NaN, high: r.high ?? NaN, color: verdictColor(r.v), v: r.v, word: verdict(r.v), lines: () => [`difference ${signed(r.d, r.low, r.high)}`, `corrected p ${pvalue(r.adjusted)}`, verdict(r.v)] }));
      const all = items();
      if (!all.length) return;
      // Of many comparisons the decided ones have a row each; equal rows "not decided" say nothing.
      const many = all.length > 40, decided = () => many ? items().filter((it) => it.v !== 0) : items();
      const csv = () => [["a", "b", "difference", "ci_low", "ci_high", "p", "adjusted_p", "verdict"], ...rows.filter((r) => r.e === e).map((r) => [D.agents[r.a], D.agents[r.b], r.d, r.low, r.high, r.p, r.adjusted, verdict(r.v)])];
      const how = [1, -1, 0].map((v) => `${count(all.filter((it) => it.v === v).length)} ${verdict(v)}`).join(", ");
      if (many) figure(host, {
        title: name, alone: `${def ? def.title : c.metric}: ${name}`, note: `difference to ${several ? "B" : D.agents[rows[0].b]}: ${how}`, height: 150, csv,
        draw: (width) => strip(items(), { width, label: "difference" }),
      });
      const some = cut(decided());
      if (some.length) figure(host, {
        title: name, alone: `${def ? def.title : c.metric}: ${name}`, note: `difference to ${several ? "B" : D.agents[rows[0].b]}${many ? `, ${count(some.length)} of ${plural(decided().length, "that is decided", "that are decided")}` : some.length < all.length ? `, ${some.length} of ${count(all.length)}` : ""}`, tall: some.length > 30, height: rowHeight * some.length + 40,
        draw: (width) => intervals(cut(decided()), { width, label: "difference", reference: 0 }), csv,
      });
    });
    host.classList.toggle("one", host.children.length === 1);
    const o = c.aggregates;
    drawLegend("comparisons", o ? shown : []);
    if (o) {
      const n = o.tau.length, part = (key) => (a, k) => column(o, key)[a * n + k];
      figure(over, {
        title: "Performance profile", note: "share of runs above a normalised score", height: 300,
        draw: (width) => curves({ width, height: 300, agents: shown, xs: o.tau, at: { mean: part("profile"), low: part("profileLow"), high: part("profileHigh") }, bands: state.bands, xLabel: "normalised score", yLabel: "share of runs above it", bounds: [0, 1], whole: true, step: (x) => `score above ${num(x)}` }),
        csv: () => [["agent", "tau", "share", "ci_low", "ci_high"], ...shown.flatMap((a) => o.tau.map((t, k) => [D.agents[a], t, part("profile")(a, k), part("profileLow")(a, k), part("profileHigh")(a, k)]))],
      });
    }
    const better = c.improvements.filter((i) => inSet.has(i.a) && i.p != null);
    if (better.length) {
      const items = () => [...better].sort((x, y) => y.p - x.p).map((i) => ({ label: several ? `${D.agents[i.a]} over ${D.agents[i.b]}` : D.agents[i.a], agent: i.a, value: i.p, low: i.low ?? NaN, high: i.high ?? NaN, color: colorOf(i.a), lines: () => [text(i.p, i.low, i.high)] }));
      // Of many, those have a row each whose interval is on one side of one half.
      const many = better.length > 40, apart = () => many ? items().filter((it) => it.low > 0.5 || it.high < 0.5) : items(), rows = cut(apart());
      figure(over, {
        title: `Probability of improvement${several ? "" : ` over ${D.agents[better[0].b]}`}`, note: "over environments" + (many ? `, ${rows.length ? `${count(rows.length)} of ` : ""}${count(apart().length)} intervals of ${count(better.length)} without 0.5` : ""), tall: rows.length > 30, height: rows.length ? rowHeight * rows.length + 40 : 150,
        draw: (width) => rows.length ? intervals(cut(apart()), { width, label: "P(a run is better)", reference: 0.5, bounds: [0, 1] }) : strip(items(), { width, label: "P(a run is better)" }),
        csv: () => [["agent", "probability", "ci_low", "ci_high"], ...items().map((i) => [i.label, i.value, i.low, i.high])],
      });
    }
    over.classList.toggle("one", over.children.length === 1);
    if (c.diagram) {
      figure(over, {
        title: "Ranks over environments", note: "critical-difference diagram; 1 is best", wide: true,
        draw: () => document.importNode(new DOMParser().parseFromString(c.diagram, "image/svg+xml").documentElement, true),
        csv: () => [["agent", "mean_rank"], ...D.agents.map((name, a) => [name, column(c, "meanRanks")[a]]).filter((r) => ok(r[1])).sort((x, y) => x[1] - y[1])],
      }).node.style.gridColumn = "1 / -1";
      over.append(make("p", { textContent: c.ranks }));
      over.lastChild.style.gridColumn = "1 / -1";
    }
    table($("comparison-table"), {
      name: "comparisons", caption: "A minus B, with a 95 % interval. The verdict is of A: better or worse than B. Decided comparisons come first.", rows: [...rows].sort((x, y) => Math.abs(y.v) - Math.abs(x.v)),
      first: rows.length > 100 ? Math.max(10, Math.min(50, rows.filter((r) => r.v !== 0).length)) : undefined,
      columns: [
        { title: "A", value: (r) => D.agents[r.a], text: true },
        { title: "Verdict", value: (r) => r.within == null ? verdict(r.v) : `${r.v ? verdict(r.v) : "equivalent"}, within ±${num(r.within)}`, text: true, cls: (r) => ({ 1: "better", "-1": "worse" })[r.v] ?? "" },
        { title: "B", value: (r) => D.agents[r.b], text: true },
        { title: "Environment", value: (r) => D.environments[r.e], text: true }, { title: "Runs", value: (r) => Number.parseInt(r.runs), show: (r) => r.runs.replace(/\d+/g, (n) => count(Number(n))) },
        { title: "Difference", value: (r) => r.d, show: (r) => estimate(r.d ?? NaN, r.low ?? NaN, r.high ?? NaN) },
        { title: "A wins", value: (r) => r.wins, show: (r) => ok(r.wins) ? `${(100 * r.wins).toFixed(0)} %` : "–" },
        { title: "p", value: (r) => r.p, show: (r) => pvalue(r.p) }, { title: `${c.correction === "bh" ? "BH" : "Holm"} p`, value: (r) => r.adjusted, show: (r) => pvalue(r.adjusted) },
      ],
      filters: [...byEnvironment(), { label: "Verdict", options: ["better", "worse", "not decided"].map((w) => ({ title: w, value: w })), test: (r, w) => verdict(r.v) === w }],
    });
  }

  function drawDecisions() {
    const host = section("decisions", "Decisions of the host", "For agents whose exploration the host decides. decisions.csv and results.db have the recorded decisions.", D.choices.length > 0);
    const own = D.metrics.map((d, i) => i).filter((i) => ["exploration_share", "mixing_time"].includes(D.metrics[i].id));
    if (!D.choices.length) return;
    drawLegend("decisions", shown.filter((a) => D.choices.some((c) => c.a === a)));
    D.environments.forEach((name, e) => own.forEach((m) => curveFigure(host, e, m, 230, `${name}: ${D.metrics[m].title.toLowerCase()}`)));
    // Where and when each agent explored: a row a state, the states with most of it.
    for (const c of D.choices.filter((c) => inSet.has(c.a) && c.places?.length)) {
      const total = c.explored * c.kept, n = c.places[0].parts.length, xs = d3.range(n).map((k) => `${100 * k / n} to ${100 * (k + 1) / n} %`);
      const states = [...c.places].sort((p, q) => p.state - q.state), ys = states.map((p) => String(p.state));
      const cells = states.flatMap((p) => p.parts.map((times, k) => ({ x: xs[k], y: String(p.state), value: times / total, a: c.a })));
      figure(host, {
        title: `${D.environments[c.e]}: ${D.agents[c.a]}`, note: `where and when it explored${states.reduce((sum, p) => sum + p.times, 0) < Math.round(total) ? `, the ${states.length} states with most` : ""}`, height: 300,
        draw: (width) => heatMap(cells, { width, xs, ys, kx: "part of the run", ky: "state", sign: 1, shares: true }),
        csv: () => [["state", "part", "share"], ...cells.map((p) => [p.y, p.x, p.value])],
      });
    }
    host.classList.toggle("one", host.children.length === 1);
    table(document.querySelector("#decisions .tables"), {
      name: "decisions", rows: D.choices.filter((c) => inSet.has(c.a)),
      caption: "Recorded decisions of the host: how many chose an option other than the greedy one, and which; the states in which most of these were; how many of these were in the first half of their run; what they promised and cost in the mean, per step; T, the number of steps for which an option was held; how often the estimate of T was above the cap; and ρ, the share of the horizon that T steps take.",
      columns: [
        { title: "Environment", value: (c) => D.environments[c.e], text: true }, { title: "Agent", value: (c) => D.agents[c.a], text: true }, { title: "Kept", value: (c) => c.kept, show: (c) => count(c.kept) },
        { title: "Explore", value: (c) => c.explored, show: (c) => percent(c.explored) }, { title: "With", value: (c) => c.options, text: true },
        { title: "Where", value: (c) => c.where, text: true }, { title: "First half", value: (c) => c.early, show: (c) => percent(c.early) },
        { title: "Gain", value: (c) => c.gain, show: (c) => num(c.gain) }, { title: "Cost", value: (c) => c.cost, show: (c) => num(c.cost) },
        { title: "Mean T", value: (c) => c.hold, show: (c) => c.hold.toFixed(1) }, { title: "Capped", value: (c) => c.capped, show: (c) => percent(c.capped) }, { title: "Mean ρ", value: (c) => c.share, show: (c) => num(c.share) },
      ],
      filters: byEnvironment(),
    });
  }

  function drawResults() {
    const def = metric(), first = D.agents[0], rows = [];
    D.environments.forEach((_, e) => { const r = rowsOf(e, state.metric); if (r) for (const a of shown) if (D.ok[e][a] || ok(column(r, "mean")[a])) rows.push({ e, a, r }); });
    const v = (r, key) => column(r.r, key)[r.a];
    const columns = [
      { title: "Agent", value: (r) => D.agents[r.a], text: true }, { title: "Environment", value: (r) => D.environments[r.e], text: true },
      { title: "Runs", value: (r) => D.ok[r.e][r.a], show: (r) => count(D.ok[r.e][r.a]), cls: (r) => D.ok[r.e][r.a] < D.planned ? "pm" : "" },
      { title: "Mean", value: (r) => v(r, "mean"), show: (r) => !ok(v(r, "mean")) ? "not known" : [...estimate(v(r, "mean"), v(r, "low"), v(r, "high")), v(r, "n") < D.ok[r.e][r.a] ? ` (${v(r, "n")} of ${D.ok[r.e][r.a]})` : ""] },
      { title: "IQM", value: (r) => v(r, "iqm"), show: (r) => alike(v(r, "iqm"), v(r, "iqmLow"), v(r, "iqmHigh"))[0] },
      { title: "95 % interval of IQM", value: (r) => v(r, "iqmLow"), show: (r) => ok(v(r, "iqmLow")) ? alike(v(r, "iqm"), v(r, "iqmLow"), v(r, "iqmHigh")).slice(1).join(" to ") : "–" },
    ];
    const differ = rows.some((r) => ok(v(r, "diff"))); // not of several experiments together
    if (differ) columns.push({ title: "Difference to the first agent", value: (r) => v(r, "diff"), show: (r) => ok(v(r, "diff")) ? [(v(r, "diff") > 0 ? "+" : ""), ...estimate(v(r, "diff"), v(r, "diffLow"), v(r, "diffHigh")), v(r, "diffN") < Math.min(D.ok[r.e][r.a], D.ok[r.e][0]) ? ` (${v(r, "diffN")} of ${Math.min(D.ok[r.e][r.a], D.ok[r.e][0])})` : ""] : "–" });
    table($("result-table"), {
      name: "results", rows, columns, filters: byEnvironment(),
      caption: `${def.title}: mean over runs ± half of the 95 % interval (Student's t).${differ ? ` Differences are to ${first}, run by run: all agents meet the same random draws.${D.comparison ? " Comparisons, above, have intervals by bootstrap: they differ a little." : ""}` : ""} Click on a heading to sort.`,
    });
  }
  const duration = (s) => s < 90 ? `${Math.max(1, Math.round(s))} s` : s < 5400 ? `${Math.round(s / 60)} min` : s < 129600 ? `${(s / 3600).toFixed(1)} hours` : `${(s / 86400).toFixed(1)} days`;
  function drawProgress() {
    const p = D.progress;
    $("progress").hidden = !p;
    if (!p) return;
    const rate = p.rate >= 1e6 ? `${(p.rate / 1e6).toFixed(1)} million` : count(Math.round(p.rate));
    $("progress-text").textContent = `${count(p.done)} of ${plural(p.planned, "run", "runs")} are recorded. `
      + (p.processes ? `${plural(p.processes, "process makes", "processes make")} ${rate} steps per second${p.left == null ? "" : `: about ${duration(p.left)} left at this rate`}.` : "No process has reported in the last minute: nothing seems to be running.");
    const bar = $("progress-bar");
    bar.max = p.planned;
    bar.value = p.done;
    const share = (c) => c.running ? `${c.running}, ${(100 * c.share).toFixed(0)} % of their ${D.axis}` : "–";
    table($("progress-table"), {
      name: "progress", rows: p.cells.filter((c) => inSet.has(c.a)).sort((x, y) => (y.running > 0) - (x.running > 0) || (y.missing > 0) - (x.missing > 0)),
      caption: "Runs of each agent in each environment. Running runs have no record yet. Runs of less than a few seconds are not shown as running.",
      columns: [
        { title: "Agent", value: (c) => D.agents[c.a], text: true }, { title: "Environment", value: (c) => D.environments[c.e], text: true },
        { title: "Done", value: (c) => c.ok }, { title: "Failed", value: (c) => c.failed }, { title: "Missing", value: (c) => c.missing }, { title: "Running now", value: (c) => c.running * (1 + c.share), show: share },
      ],
      filters: byEnvironment(),
    });
  }
  function drawFailures() {
    $("failures").hidden = !D.failures.length;
    if (!D.failures.length) return;
    $("failures-text").textContent = `${plural(D.failed, "run", "runs")} failed${D.failed > D.failures.length ? `; the first ${D.failures.length} are shown, results.db holds all` : ""}.`;
    table($("failure-table"), {
      name: "failures", rows: D.failures, caption: "Runs that failed.",
      columns: [{ title: "Environment", value: (f) => f.e, text: true }, { title: "Agent", value: (f) => f.a, text: true }, { title: "Run", value: (f) => f.run }, { title: "Steps made", value: (f) => f.steps, show: (f) => count(f.steps) }, {
        title: "Error", value: (f) => f.error, text: true, cls: () => "pre", show: (f) => { // the message, and what the plugin said last
          const [first, ...rest] = f.error.split("\n");
          return rest.length ? make("details", {}, make("summary", { textContent: first }), make("pre", { textContent: rest.join("\n") })) : first;
        },
      }],
    });
  }

  // ---- all of it
  const charts = [
    drawProgress,
    drawScores,
    drawCurves,
    drawSweeps,
    drawComparisons,
    drawDecisions,
    drawResults,
    drawFailures,
  ];
  function load(data) {
    const before = D && state.metric != null ? metric()?.id : null;
    D = data;
    decoded.clear();
    rowsAt = new Map(D.rows.map((r) => [r.e * 1000 + r.m, r]));
    curvesAt = new Map(D.curves.map((c) => [c.e * 1000 + c.m, c]));
    $("notices").replaceChildren(...D.notices.map((n) => make("p", { className: "notice", textContent: n })));
    const empty = !D.metrics.length;
    $("main").hidden = $("controls").hidden = empty;
    if (empty) return;
    let m = D.metrics.findIndex((d) => d.id === before);
    if (m < 0 && D.comparison) m = D.metrics.findIndex((d) => d.id === D.comparison.metric);
    if (m < 0) { // first time: the mean reward
      m = Math.max(0, D.metrics.findIndex((d) => d.id === "reward"));
    }
    if (before == null) {
      if (D.environments.length > 2 && D.agents.length > 10) state.rows = 10;
      $("rows").value = String(state.rows);
      if (D.agents.length <= palette.length) state.top = palette.length;
      $("top").value = String(state.top);
      state.logx = $("logx").checked = D.log;
      // An evaluation belongs beside the curve of learning.
      const evaluation = D.metrics.findIndex((d, i) => d.id.startsWith("evaluation") && hasCurves(i));
      if (evaluation >= 0 && evaluation !== m) state.beside = String(evaluation);
    }
    state.metric = m;
    choose($("metric"), D.metrics.map((d, i) => ({ title: d.title, value: String(i) })), m);
    draw();
  }
  function draw() {
    arrange();
    hideTip();
    state.focus = -1;
    for (const chart of charts) chart();
    // At once, for a picture of the page that is taken before the observer is told what is in sight.
    for (const f of figures) if (f.node.getBoundingClientRect().top < innerHeight) paint(f);
  }
  const change = (id, on) => $(id).addEventListener("change", on);
  change("metric", () => { state.metric = Number($("metric").value); draw(); });
  change("top", () => { state.top = Number($("top").value); draw(); });
  change("rows", () => { state.rows = Number($("rows").value); drawScores(); drawComparisons(); });
  change("beside", () => { state.beside = $("beside").value; drawCurves(); });
  for (const id of ["bands", "logx", "logy"]) change(id, () => { state[id] = $(id).checked; drawCurves(); repaint(); });
  for (const id of ["sweep", "key-x", "key-y", "sweep-kind"]) change(id, drawSweeps);
  let typing;
  $("search").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => { state.query = $("search").value; draw(); }, 150); });
  addEventListener("scroll", hideTip, { passive: true });

  const theme = (name) => {
    root.dataset.theme = name;
    styles.clear();
    $("theme").textContent = name === "dark" ? "Light colours" : "Dark colours";
    if (D && D.metrics.length) draw();
  };
  $("theme").addEventListener("click", () => theme(dark() ? "light" : "dark"));
  // On paper all charts are there, in colours for white ground.
  let printed = "";
  addEventListener("beforeprint", () => {
    printed = root.dataset.theme;
    if (printed === "dark") theme("light");
    figures.forEach(paint);
  });
  addEventListener("afterprint", () => { if (printed === "dark") theme(printed); });
  const prefers = matchMedia("(prefers-color-scheme: dark)");
  prefers.addEventListener("change", () => theme(prefers.matches ? "dark" : "light"));
  theme(prefers.matches ? "dark" : "light");

  $("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText($("command").textContent);
      $("copy").textContent = "Copied";
    } catch {
      getSelection().selectAllChildren($("command"));
    }
  });

  if (!embedded.live) { load(embedded); return; }
  // ---- served: the data come from the server, and news of them
  const query = `experiment=${embedded.current}&token=${encodeURIComponent(embedded.token)}`;
  const say = (words, on) => { $("live").textContent = words; $("live").classList.toggle("on", on); };
  let fetching = false, again = false;
  async function refresh() {
    if (fetching) { again = true; return; }
    fetching = true;
    try {
      const answer = await fetch(`api/state?${query}`, { cache: "no-store" });
      if (!answer.ok) throw new Error(await answer.text());
      const data = await answer.json();
      if (embedded.empty && data.metrics.length) { location.reload(); return; } // for the texts of metrics
      load(data);
      say(!data.unfinished ? "finished" : data.progress?.processes ? "running" : "unfinished", data.unfinished);
    } catch (err) {
      say("not reachable: " + err.message, false);
    }
    fetching = false;
    if (again) { again = false; refresh(); }
  }
  const events = new EventSource(`api/events?${query}`);
  events.onmessage = refresh;
  events.onerror = () => say("connection lost", false);
  $("experiment")?.addEventListener("change", () => {
    location.search = `?experiment=${$("experiment").value}&token=${encodeURIComponent(embedded.token)}`;
  });
  refresh();
})();
