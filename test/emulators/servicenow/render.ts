import type { FieldSchema } from './schema.ts';
import { formatTime, type Row, type Store } from './store.ts';
import type { Account } from './users.ts';

export type DisplayMode = 'true' | 'false' | 'all';

export interface Rendering {
  store: Store;
  account: Account;
  /** The address of the instance, for links. */
  base: string;
  display: DisplayMode;
  excludeLink: boolean;
  /** Names asked for, with points through references; all columns unless given. */
  fields: string[] | undefined;
}

/** What a user sees in place of a stored value. */
function displayValue({ store, account }: Rendering, field: FieldSchema, value: string): string {
  if (value === '') return '';
  if (field.choices) return field.choices[value] ?? value;
  switch (field.type) {
    case 'reference': {
      const target = store.rows.get(value);
      return target ? store.displayOf(target) : value;
    }
    case 'sys_class_name':
      return store.tables.get(value)?.label ?? value;
    case 'glide_date_time':
      return formatTime(Date.parse(`${value.replace(' ', 'T')}Z`) + account.timeZoneHours * 3_600_000);
    case 'integer':
      return Number(value).toLocaleString('en-US');
    case 'decimal':
      return Number(value).toLocaleString('en-US', { maximumFractionDigits: 2 });
    default:
      return value;
  }
}

/** A row as the Table API shows it. */
export function renderRow(rendering: Rendering, row: Row): Record<string, unknown> {
  const { store, account, base, display, excludeLink } = rendering;
  const names = rendering.fields ?? [...store.fields(row.table).keys()];
  const shown: Record<string, unknown> = {};
  for (const name of names) {
    const field = store.field(row.table, name);
    if (!field) continue;
    const value = account.hidesField(row.table, name) ? '' : store.value(row, name);
    if (field.type !== 'reference') {
      if (display === 'false') shown[name] = value;
      else {
        const display_value = displayValue(rendering, field, value);
        shown[name] = display === 'true' ? display_value : { display_value, value };
      }
      continue;
    }
    const display_value = display === 'false' ? '' : displayValue(rendering, field, value);
    const link = `${base}/api/now/v2/table/${field.reference}/${value}`;
    if (display === 'all') shown[name] = { display_value, ...(value && !excludeLink ? { link } : {}), value };
    else if (value === '' || excludeLink) shown[name] = display === 'true' ? display_value : value;
    else shown[name] = display === 'true' ? { display_value, link } : { link, value };
  }
  return shown;
}
