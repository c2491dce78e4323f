import { validateDetailed } from 'node-cron';
import type { FieldError } from '../../../platform/errors.ts';
import { nextSlot } from './schedules.slots.ts';

const FIELDS = ['minute', 'hour', 'day of month', 'month', 'day of week'];

/** What stands in a field besides `*`, lists, ranges and steps. */
const RANGES: Readonly<Record<string, string>> = {
  minute: '0 to 59',
  hour: '0 to 23',
  'day of month': '1 to 31',
  month: '1 to 12 or a name such as jan',
  'day of week': '0 to 7 or a name such as mon',
};

/** The faults of a schedule's cron expression and time zone. */
export function scheduleFaults(cron: string, timeZone: string): FieldError[] {
  const faults = [...cronFaults(cron), ...timeZoneFaults(timeZone)];
  if (faults.length > 0) return faults;
  try {
    nextSlot(cron, timeZone, new Date());
    return [];
  } catch (error) {
    return [
      { field: 'cron', code: 'bad_cron', message: `"${cron}" never comes: ${(error as Error).message}` },
    ];
  }
}

function cronFaults(cron: string): FieldError[] {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== FIELDS.length || cron.includes('@')) {
    const message = `"${cron}" is no cron expression of five fields: ${FIELDS.join(', ')}`;
    return [{ field: 'cron', code: 'bad_cron', message }];
  }
  const { errors } = validateDetailed(cron.trim());
  return errors.map(({ field, value }) => {
    const name = field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    const range = RANGES[name] ? `, which takes ${RANGES[name]}` : '';
    return { field: 'cron', code: 'bad_cron', message: `"${value ?? cron}" is not valid as ${name}${range}` };
  });
}

/** The fault of a name that is no IANA time zone, as the field `time_zone`. */
export function timeZoneFaults(timeZone: string): FieldError[] {
  try {
    // an offset such as +02:00 is no zone: it knows no summer time
    if (!/^[A-Za-z]/.test(timeZone)) throw new RangeError();
    new Intl.DateTimeFormat('en', { timeZone });
    return [];
  } catch {
    const message = `"${timeZone}" is no IANA time zone such as Europe/Berlin or UTC`;
    return [{ field: 'time_zone', code: 'bad_time_zone', message }];
  }
}
