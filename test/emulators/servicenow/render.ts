import type { FieldSchema } from './schema.ts';
import type { Row, Store } from './store.ts';
import type { Account } from './users.ts';

export interface Rendering {
  store: Store;
  account: Account;
  /** Shows each value beside what a user sees in its place (`sysparm_display_value=all`). */
  hasDisplay: boolean;
  /** Names asked for, with points through references; all columns unless given. */
  fields: string[] | undefined;
}

/** What a user sees in place of a stored value. */
function displayValue(store: Store, field: FieldSchema, value: string): string {
  if (value === '') return '';
  if (field.choices) return field.choices[value] ?? value;
  switch (field.type) {
    case 'reference': {
      const target = store.rows.get(value);
      return target ? store.displayOf(target) : value;
    }
    case 'sys_class_name':
      return store.tables.get(value)?.label ?? value;
    case 'integer':
      return Number(value).toLocaleString('en-US');
    case 'decimal':
      return Number(value).toLocaleString('en-US', { maximumFractionDigits: 2 });
    default:
      return value;
  }
}

/** A row as the Table API shows it, without links of references. */
export function renderRow(
  { store, account, hasDisplay, fields }: Rendering,
  row: Row,
): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const name of fields ?? store.fields(row.table).keys()) {
    const field = store.field(row.table, name);
    if (!field) continue;
    const value = account.hidesField(row.table, name) ? '' : store.value(row, name);
    shown[name] = hasDisplay ? { display_value: displayValue(store, field, value), value } : value;
  }
  return shown;
}
