import { remembered, useDisplay } from './display.tsx';
import { useLanguage } from './messages.tsx';

const locales = { en: 'en', de: 'de' };

/** Numbers, money and dates as the workspace and the user's language want them. */
export function useFormat() {
  const { language } = useLanguage();
  const { currency, dateFormat } = useDisplay();
  return formatOf(locales[language], currency, dateFormat);
}

// the formatters of the browser are slow to make
const formatOf = remembered(createFormat);

const minus = (text: string) => text.replace('-', '\u2212');

function createFormat(locale: string, currency: string, dateFormat: string) {
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const money = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    trailingZeroDisplay: 'stripIfInteger',
  });
  const short = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    notation: 'compact',
    maximumSignificantDigits: 3,
  });
  const month = new Intl.DateTimeFormat(locale, { month: 'short', timeZone: 'UTC' });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
  const time = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const date = (day: string): string => {
    const at = new Date(`${day.slice(0, 10)}T00:00:00Z`);
    if (Number.isNaN(at.getTime())) return day;
    const two = (value: number) => String(value).padStart(2, '0');
    const parts: Record<string, string> = {
      YYYY: String(at.getUTCFullYear()),
      MMM: month.format(at),
      MM: two(at.getUTCMonth() + 1),
      DD: two(at.getUTCDate()),
    };
    return dateFormat.replace(/YYYY|MMM|MM|DD/g, (part) => parts[part]!);
  };
  return {
    number: (value: number) => minus(whole.format(value)),
    money: (value: number) => minus(money.format(value)),
    /** Three significant digits. */
    shortMoney: (value: number) => minus(short.format(value)),
    /** @param value 0 to 100. */
    percent: (value: number) => `${minus(value.toFixed(value >= 9.95 || value === 0 ? 0 : 1))} %`,
    date,
    /** A number of bytes. */
    size: (bytes: number) =>
      bytes < 1e6
        ? `${whole.format(Math.ceil(bytes / 1e3))} kB`
        : `${whole.format(Math.round(bytes / 1e5) / 10)} MB`,
    /** How long ago an instant was: minutes and hours today, days within a week, else the date. */
    ago(instant: string): string {
      const minutes = (Date.now() - Date.parse(instant)) / 60_000;
      if (minutes < 60) return relative.format(-Math.round(minutes), 'minute');
      if (minutes < 24 * 60) return relative.format(-Math.round(minutes / 60), 'hour');
      if (minutes < 7 * 24 * 60) return relative.format(-Math.round(minutes / 1440), 'day');
      return date(instant);
    },
    /** The time of the day. */
    clock: (instant: string) => time.format(new Date(instant)),
    time: (instant: string) => `${date(instant)}, ${time.format(new Date(instant))}`,
  };
}
