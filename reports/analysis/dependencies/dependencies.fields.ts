import type { Ctx } from '../../../domain/kernel/context.ts';
import { invalidField } from '../../../platform/errors.ts';
import { reportAttributes, withoutCosts } from '../../kernel/report.cards.ts';
import { literal } from '../../kernel/report.sql.ts';

/** The members of nodes and edges besides those that each has. */
const nodeFields = ['lifecycle', 'attributes', 'parent_id', 'path'];
const edgeFields = ['edges.label', 'edges.description', 'edges.attributes'];

/**
 * The members that a request names; undefined for all.
 * @throws EstateError `validation_failed` for an unknown one.
 */
export function requestedFields(ctx: Ctx, fields: string | undefined): ReadonlySet<string> | undefined {
  if (fields === undefined) return undefined;
  const names = fields.split(',').flatMap((name) => name.trim() || []);
  const attributes = new Set(
    [...ctx.metamodel.cardTypes.values()].flatMap((type) => [...type.fields.keys()]),
  );
  for (const name of names) {
    const isKnown = nodeFields.includes(name) || edgeFields.includes(name);
    if (isKnown || (name.startsWith('attributes.') && attributes.has(name.slice(11)))) continue;
    const known = [...nodeFields, 'attributes.<key>', ...edgeFields].join(', ');
    throw invalidField('fields', 'unknown_field', `"${name.slice(0, 100)}" is none of ${known}`);
  }
  return new Set(names);
}

/** SQL of the JSON of a node `c` with its path `w`, as text. Concatenated text takes half the time of json_build_object. */
export function nodeJson(ctx: Ctx, fields: ReadonlySet<string> | undefined): string {
  const has = (name: string) => fields === undefined || fields.has(name);
  const keys = [...(fields ?? [])].flatMap((name) => (name.startsWith('attributes.') ? name.slice(11) : []));
  const all = reportAttributes(ctx);
  const some = `(select coalesce(jsonb_object_agg(a.key, a.value), '{}') from jsonb_each(${all}) a
    where a.key in (${keys.map(literal).join(', ')}))`;
  return [
    `'{"id":"' || c.id || '","name":' || to_json(c.name)::text || ',"type":"' || c.type || '"'`,
    ...(has('lifecycle') ? [`',"lifecycle":' || coalesce(c.lifecycle::text, 'null')`] : []),
    ...(has('attributes') || keys.length > 0
      ? [`',"attributes":' || (${has('attributes') ? all : some})::text`]
      : []),
    ...(has('parent_id') ? [`',"parent_id":' || coalesce('"' || c.parent_id || '"', 'null')`] : []),
    ...(has('path') ? [`',"path":' || coalesce(to_json(w.path)::text, '[]')`] : []),
    `'}'`,
  ].join(' || ');
}

/** SQL of the JSON of an edge `e` with its type `t`, as text. @param rolledUp whether it has `via_id`. */
export function edgeJson(ctx: Ctx, fields: ReadonlySet<string> | undefined, rolledUp: boolean): string {
  const has = (name: string) => fields === undefined || fields.has(name);
  const attributes = withoutCosts(ctx, 'e', ctx.metamodel.relationTypes.values());
  return [
    `'{"source":"' || e.source_id || '","target":"' || e.target_id || '",'`,
    has('edges.label') ? 't.head' : `'"type":' || to_json(e.type)::text`,
    `coalesce(',"flow":"' || e.flow || '"', '')`,
    ...(has('edges.description')
      ? [`',"description":' || coalesce(to_json(e.description)::text, 'null')`]
      : []),
    ...(has('edges.attributes') ? [`',"attributes":' || (${attributes})::text`] : []),
    ...(rolledUp ? [`coalesce(',"via_id":"' || e.via_id || '"', '')`] : []),
    `'}'`,
  ].join(' || ');
}
