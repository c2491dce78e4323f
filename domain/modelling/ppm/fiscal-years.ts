/**
 * The fiscal year of a day, given the month in which fiscal years begin (1 to 12): it is named after the calendar year
 * in which it ends, so that with month 10 the first of October 2026 is in 2027. With month 1 both are
 * the same.
 * @param day `YYYY-MM-DD`
 */
export function fiscalYearOf(day: string, month: number): number {
  const year = Number(day.slice(0, 4));
  return month > 1 && Number(day.slice(5, 7)) >= month ? year + 1 : year;
}
