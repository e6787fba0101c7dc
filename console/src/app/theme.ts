import { ExternalStore } from './external-store';

export type Theme = 'system' | 'light' | 'dark';
const PLACE = 'gantry.theme';

export const theme = new ExternalStore<Theme>((localStorage.getItem(PLACE) as Theme | null) ?? 'system');

function apply(next: Theme): void {
  if (next === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
}

export function setTheme(next: Theme): void {
  localStorage.setItem(PLACE, next);
  apply(next);
  theme.set(next);
}

apply(theme.get());
