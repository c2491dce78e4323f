import { lazily } from '../../../reports/kernel/charts/charts.lazily.ts';
import { formatDate, formatShare } from '../../../reports/kernel/charts/charts.numbers.ts';
import { remembered, useDisplay } from './display.tsx';
import { type Language, useLanguage } from './messages.tsx';

/** Numbers, money and dates as the workspace and the user's language want them. */
export function useFormat() {
  const { language } = useLanguage();
  const { currency, dateFormat } = useDisplay();
  return formatOf(language, currency, dateFormat);
}

// the formatters of the browser are slow to make
const formatOf = remembered(createFormat);

const minus = (text: string) => text.replace('-', '\u2212');

function createFormat(language: Language, currency: string, dateFormat: string) {
  const moneyBy = (options: Intl.NumberFormatOptions) =>
    lazily(() => new Intl.NumberFormat(language, { style: 'currency', currency, ...options }));
  const whole = lazily(() => new Intl.NumberFormat(language, { maximumFractionDigits: 2 }));
  const money = moneyBy({ trailingZeroDisplay: 'stripIfInteger' });
  const short = moneyBy({ notation: 'compact', maximumSignificantDigits: 3 });
  const relative = lazily(() => new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' }));
  const time = lazily(
    () => new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  );
  const date = (day: string): string => {
    const at = Date.parse(`${day.slice(0, 10)}T00:00:00Z`);
    return Number.isNaN(at) ? day : formatDate(at, { currency, dateFormat, language });
  };
  return {
    number: (value: number) => minus(whole().format(value)),
    money: (value: number) => minus(money().format(value)),
    /** Three significant digits. */
    shortMoney: (value: number) => minus(short().format(value)),
    /** @param value 0 to 100. */
    percent: (value: number) => minus(formatShare(value / 100, { language })),
    date,
    /** A number of bytes. */
    size: (bytes: number) =>
      bytes < 1e6
        ? `${whole().format(Math.ceil(bytes / 1e3))} kB`
        : `${whole().format(Math.round(bytes / 1e5) / 10)} MB`,
    /** How long ago an instant was: minutes and hours today, days within a week, else the date. */
    ago(instant: string): string {
      const minutes = (Date.now() - Date.parse(instant)) / 60_000;
      if (minutes < 60) return relative().format(-Math.round(minutes), 'minute');
      if (minutes < 24 * 60) return relative().format(-Math.round(minutes / 60), 'hour');
      if (minutes < 7 * 24 * 60) return relative().format(-Math.round(minutes / 1440), 'day');
      return date(instant);
    },
    /** The time of the day. */
    clock: (instant: string) => time().format(new Date(instant)),
    time: (instant: string) => `${date(instant)}, ${time().format(new Date(instant))}`,
  };
}
