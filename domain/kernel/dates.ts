/** Whether the text is an existing date as `YYYY-MM-DD`, from year 1 on. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text < '0001') return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Today in UTC as `YYYY-MM-DD`. */
export const today = (): string => new Date().toISOString().slice(0, 10);
