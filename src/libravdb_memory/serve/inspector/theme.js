// Light, dark, or as the system says. Kept in this browser alone.

const KEY = "libravdb-theme";
const SIGNS = { system: "◐", light: "○", dark: "●" };
const NAMES = { system: "as the system", light: "light", dark: "dark" };
const ORDER = ["system", "light", "dark"];

function kept() {
  try {
    const value = localStorage.getItem(KEY);
    return ORDER.includes(value) ? value : "system";
  } catch {
    return "system";
  }
}

let theme = kept();

function show() {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  if (!button) return;
  button.textContent = SIGNS[theme];
  button.setAttribute("aria-label", `Theme: ${NAMES[theme]}`);
  button.title = `Theme: ${NAMES[theme]}`;
}

export function turn() {
  theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // a browser that keeps nothing still shows it
  }
  show();
  return NAMES[theme];
}

show();
