/*
 * Days in spreadsheets are numbers whose format shows them as such (ECMA-376, 18.8.30 and 18.17.4.1).
 */

const DAY_MS = 86_400_000;
/** The built-in formats of days and times. */
const builtIn = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);

/** Whether a number format shows a day or a time; `code` is that of a format of the workbook's own. */
export function showsDay(id: number, code: string | undefined): boolean {
  if (code === undefined) return builtIn(id);
  // quoted and escaped characters, colours and conditions say nothing
  const bare = code.replace(/"[^"]*"|\\.|\[[^\]]*\]|[_*]./g, '');
  return /[dmyhs]/i.test(bare) && !/general/i.test(bare);
}

/**
 * The day of a serial number as `YYYY-MM-DD`, with the time behind it where there is one; undefined beyond the year 9999.
 * @param from1904 whether the workbook counts from 1904.
 */
export function dayOf(serial: number, from1904: boolean): string | undefined {
  // 1900 counts as a leap year, so that only days from March on are right
  const epoch = from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, serial < 60 ? 31 : 30);
  const moment = new Date(epoch + Math.round(serial * 86_400) * 1000);
  if (!(serial >= 0) || Number.isNaN(moment.getTime()) || moment.getUTCFullYear() > 9999) return undefined;
  const text = moment.toISOString();
  return moment.getTime() % DAY_MS === 0 ? text.slice(0, 10) : `${text.slice(0, 19)}Z`;
}
