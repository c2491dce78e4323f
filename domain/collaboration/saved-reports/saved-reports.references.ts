import { embed, fragment } from '../../../platform/database.ts';
import { References } from '../../inventory/metamodel/usage/references.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { isObject } from '../../kernel/shapes.ts';
import { visibleSavedReports } from './saved-reports.commands.ts';

/** The parameters of reports and pages that name card types. */
export const typeParams: readonly string[] = ['type', 'row_type', 'col_type', 'boxes', 'inside', 'from'];
/** Those that name fields by their keys, and fields or related types. */
export const fieldParams: readonly string[] = [
  'x_axis',
  'y_axis',
  'size_field',
  'color_field',
  'cost_field',
  'fields',
];
export const groupParams: readonly string[] = ['group_by', 'aggregate', 'colour'];
/** Those whose values are in the filter language. */
const filterParams: readonly string[] = ['filter', 'expression'];

const textsOf = (value: unknown): string[] =>
  [value]
    .flat()
    .flatMap((one) => (typeof one === 'string' ? one.split(',') : []))
    .map((one) => one.trim());

/**
 * What the parameters of a report refer to. Configurations are open, and pages add parameters of their own: a name that is no
 * key of the metamodel now refers to nothing.
 */
function readParams(found: References, params: Record<string, unknown>): void {
  const types = typeParams.flatMap((name) => textsOf(params[name])).filter((key) => found.hasType(key));
  const scope = types.length > 0 ? types : undefined;
  found.type(...types);
  for (const name of filterParams) if (typeof params[name] === 'string') found.filter(params[name], scope);
  for (const name of [...fieldParams, ...groupParams]) {
    for (const key of textsOf(params[name])) {
      const bare = key.replace(/^(own|attributes)\./, '');
      if (groupParams.includes(name) && found.hasType(bare)) found.type(bare);
      else if (found.hasField(bare)) found.field(bare, scope);
    }
  }
  for (const member of ['dimensions', 'measures']) {
    for (const one of [params[member]].flat()) {
      if (isObject(one) && typeof one.field === 'string') found.path(one.field, scope);
    }
  }
}

/** A dashboard has tiles, a tile a page, and a page a query. */
const MAX_DEPTH = 4;

/** Saved reports, queries, and dashboards with their tiles. */
export const savedReportConsumers = defineConsumers<Record<string, unknown>>({
  tables: ['saved_reports'],
  rows: (
    ctx,
  ) => fragment`select s.id::text, case s.report_type when 'dashboard' then 'dashboard' else 'report' end as kind, s.name,
      s.owner_id, null::timestamptz as last_used_at, '/api/v1/saved-reports/' || s.id as link,
      ${embed(visibleSavedReports(ctx))} as is_visible, s.config as content
    from saved_reports s`,
  references(config, metamodel) {
    const found = new References(metamodel);
    const read = (part: unknown, depth: number): void => {
      if (!isObject(part) || depth > MAX_DEPTH) return;
      readParams(found, part);
      for (const inner of [part.search, part.params, part.query, part.q, part.tiles].flat())
        read(inner, depth + 1);
    };
    read(config, 0);
    return found.all;
  },
});
