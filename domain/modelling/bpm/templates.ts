import { readFileSync } from 'node:fs';
import { notFound } from '../../../platform/errors.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { textLiteral } from '../../kernel/lists/lists.sql.ts';
import templates from './templates.json' with { type: 'json' };

/** The keys of the bundled templates; `templates/<key>.bpmn` contains the model of each. */
export const templateKeys = templates.map(({ key }) => key);

const columns = ['key', 'name', 'description', 'category'] as const;
const values = templates.map(
  (template, n) => `(${n}, ${columns.map((column) => textLiteral(template[column])).join(', ')})`,
);

/** Templates over the alias `t`, as a list of constants. */
export const templateList = defineList({
  name: 'process-templates',
  from: `(values ${values.join(', ')}) as t(place, ${columns.join(', ')})`,
  id: 't.key',
  idType: 'text',
  sorts: {
    place: { sql: 't.place', type: 'bigint', immutable: true },
    name: { sql: 'fold(t.name)', type: 'text', filled: true },
    category: { sql: 't.category', type: 'text', filled: true },
  },
  defaultSort: 'place',
  search: `fold(t.name || ' ' || t.description)`,
  members: Object.fromEntries(columns.map((column) => [column, `t.${column}`])),
});

/** A template with its model. @throws EstateError `not_found`. */
export function readTemplate(key: string) {
  const template = templates.find((known) => known.key === key);
  if (!template) throw notFound('template', key);
  const model = new URL(`./templates/${template.key}.bpmn`, import.meta.url);
  return { ...template, bpmn_xml: readFileSync(model, 'utf8') };
}
