// Looks at the page that is open, as wide as `width` pixels. `paper`: nothing scrolls there.
(width, paper) => {
  const problems = new Set();
  const main = document.querySelector("main") || document.body;
  const name = (element) => {
    const text = (element.textContent || "").trim().replace(/\s+/g, " ").slice(0, 60);
    const kind = element.getAttribute("class");
    return `<${element.localName}${kind ? ` class="${kind}"` : ""}> "${text}"`;
  };
  const size = (element) => element.getBoundingClientRect();
  // In what is folded up, and so has no size.
  const folded = (element) => !element.checkVisibility();

  // Formulas.
  const formulas = main.querySelectorAll("math");
  for (const formula of formulas) {
    const { width, height } = size(formula);
    if (!folded(formula) && (width < 2 || height < 2)) problems.add(`a formula has no size: ${name(formula)}`);
    if (formula.querySelector("merror")) problems.add(`a formula has an error: ${name(formula)}`);
    // A space that is not closed would have taken in what follows it.
    if (formula.querySelector("mspace *")) problems.add(`a formula is badly nested: ${name(formula)}`);
    if (/\\[a-z]/.test(formula.textContent)) problems.add(`a formula shows LaTeX: ${name(formula)}`);
  }

  // Pictures.
  for (const picture of main.querySelectorAll("img")) {
    if (!picture.complete || picture.naturalWidth === 0) problems.add(`a picture did not load: ${picture.src}`);
    if (!picture.hasAttribute("alt")) problems.add(`a picture has no alternative text: ${picture.src}`);
  }
  const drawings = main.querySelectorAll("figure svg");
  for (const drawing of drawings) {
    const { width, height } = size(drawing);
    if (!folded(drawing) && (width < 2 || height < 2)) problems.add(`a picture has no size: ${name(drawing)}`);
    if (!drawing.querySelector("title")) problems.add(`a picture has no title: ${name(drawing)}`);
    if (/^path|^rect/.test(drawing.firstElementChild?.localName || "") && !drawing.querySelector("text"))
      problems.add(`a picture has no text: ${name(drawing)}`);
    // Elements that are not closed would end up inside each other.
    if (drawing.querySelector("path path, rect rect, text text")) problems.add(`a picture is badly nested: ${name(drawing)}`);
    for (const text of drawing.querySelectorAll("text")) {
      if (getComputedStyle(text).fill === getComputedStyle(main).backgroundColor)
        problems.add(`text in a picture has the colour of the page: ${name(text)}`);
    }
  }

  // Source text that should have become something else.
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const parent = texts.currentNode.parentElement;
    if (!parent || parent.closest("script, style")) continue;
    const text = texts.currentNode.data;
    const raw = parent.closest("pre, code") ? /\{\{#\w/ : /\{\{#|\$\$|\\\(|\\\[|\\frac|ANCHOR(_END)?:/;
    if (raw.test(text)) problems.add(`source text is left in the page: ${text.trim().slice(0, 80)}`);
  }

  // Highlighted code.
  for (const code of main.querySelectorAll("pre code.language-cpp, pre code.language-rust")) {
    if (!code.querySelector("span[class^=hljs-]") && code.textContent.trim().length > 40)
      problems.add(`code is not highlighted: ${name(code)}`);
  }

  // Text flows around nothing: on a narrow page it would be a column of single words.
  for (const element of main.querySelectorAll("pre, pre code, table, figure, blockquote, .formula")) {
    if (getComputedStyle(element).float !== "none") problems.add(`text flows around ${name(element)}`);
  }

  // Nothing is wider than the window, except inside what scrolls by itself.
  if (document.documentElement.scrollWidth > width + 1)
    problems.add(`the page is ${document.documentElement.scrollWidth} px wide`);
  // What main stands in may scroll up and down, not sideways.
  for (let at = main; at && at !== document.documentElement; at = at.parentElement) {
    if (at.scrollWidth > at.clientWidth + 1) {
      problems.add(`the page's text is ${at.scrollWidth} px wide where there are ${at.clientWidth}`);
      break;
    }
  }
  const scrolls = (element) => {
    for (let at = element; at && at !== main; at = at.parentElement) {
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(at).overflowX)) return at;
    }
    return null;
  };
  const wide = new WeakSet();
  for (const element of main.querySelectorAll("*")) {
    if ((element.closest("svg") && element.localName !== "svg") || folded(element)) continue;
    // What is inside something too wide is not reported again.
    if (wide.has(element.parentElement)) {
      wide.add(element);
      continue;
    }
    const box = size(element);
    if (box.width === 0 || box.height === 0 || box.right <= width + 1) continue;
    // What only screen readers see is out of the page on purpose.
    if (box.width <= 1 && box.height <= 1) continue;
    const within = scrolls(element);
    if (!within) {
      wide.add(element);
      problems.add(`wider than the page by ${Math.round(box.right - width)} px: ${name(element)}`);
    }
    if (within && paper && within.scrollWidth > within.clientWidth + 2) problems.add(`cut off on paper: ${name(within)}`);
  }

  // On a desktop, code is read without scrolling: what is wider is wrapped, cut to what is discussed, or folded.
  if (!paper && width >= 1000) {
    for (const code of main.querySelectorAll("pre")) {
      const scrolling = [code, ...code.children].map((element) => element.scrollWidth - element.clientWidth);
      const over = code.clientWidth > 0 ? Math.max(...scrolling) : 0;
      if (folded(code) || over <= 1) continue;
      const lines = code.textContent.split("\n");
      const widest = lines.reduce((most, line, at) => (line.length > lines[most].length ? at : most), 0);
      const place = `line ${widest + 1}, ${lines[widest].length} columns: ${lines[widest].trim().slice(0, 60)}`;
      problems.add(`code is wider than its column by ${over} px, ${place}`);
    }
  }

  const links = [...document.querySelectorAll("a[href]")].map((link) => link.href);
  const ids = [...document.querySelectorAll("[id], a[name]")].map((place) => place.id || place.name);
  return {
    problems: [...problems],
    links: [...new Set(links)],
    ids: [...new Set(ids)],
    formulas: formulas.length,
    pictures: drawings.length + main.querySelectorAll("img").length,
  };
};
