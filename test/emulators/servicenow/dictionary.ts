import { type FieldSchema, systemFields } from './schema.ts';
import type { Store } from './store.ts';

/** Fills the tables that describe the others: sys_db_object, sys_dictionary and sys_choice. */
export function describeTables(store: Store): void {
  const ids = new Map<string, string>();
  for (const { name, label, parent, fields } of [...store.tables.values()]) {
    const values = { name, label, super_class: ids.get(parent ?? '') ?? '' };
    ids.set(name, store.insert('sys_db_object', values, 'system').values.sys_id!);
    for (const field of parent ? fields : [...systemFields, ...fields]) describeField(store, name, field);
  }
}

/** Describes one column; inherited columns are described where they come from alone. */
function describeField(store: Store, table: string, field: FieldSchema): void {
  const { name: element, label, type, reference, maxLength, mandatory, choices } = field;
  store.insert(
    'sys_dictionary',
    {
      name: table,
      element,
      column_label: label,
      internal_type: type,
      reference: reference ?? '',
      max_length: String(maxLength ?? 40),
      choice: choices ? '1' : '0',
      mandatory: String(mandatory === true),
      active: 'true',
    },
    'system',
  );
  for (const [value, choiceLabel] of Object.entries(choices ?? {}))
    store.insert(
      'sys_choice',
      { name: table, element, value, label: choiceLabel, inactive: 'false' },
      'system',
    );
}

/** Adds, changes or takes away a column, in the table and in its description. */
export function changeField(
  store: Store,
  table: string,
  field: FieldSchema | { name: string; removed: true },
): void {
  store.changeField(table, field);
  for (const name of ['sys_dictionary', 'sys_choice']) {
    const rows = store
      .of(name)
      .filter(({ values }) => values.name === table && values.element === field.name);
    for (const row of rows) store.remove(row, 'system');
  }
  if (!('removed' in field)) describeField(store, table, field);
}
