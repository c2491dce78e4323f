import type { OpenApiParameter, Schema } from './document.ts';

/** Descriptions of query parameters with the same meaning in all operations. */
const wellKnown: Record<string, string> = {
  action: 'What to do',
  card_id: 'Only entries of this card',
  filter: 'An expression of the filter language; empty: all',
  from: 'From this time on',
  include_archived: 'Whether to include archived entries',
  include_hidden: 'Whether to include hidden entries',
  include_inactive: 'Whether to include inactive entries',
  kind: 'The kind of the file’s rows',
  limit: 'Maximum number of items',
  page: 'From 1',
  page_size: 'Items per page',
  neutralise: 'Whether cells that a spreadsheet program would evaluate as formulas are escaped',
  profile: '`report` for people and tools, `roundtrip` for a file that can be imported again',
  since: 'From this time on',
  type_key: 'Only entries of this card type',
  until: 'Before this time',
  user_id: 'Only entries of this user',
};

/** Adds the description of a path or query parameter; one with a default is optional. */
export function describedParameter(parameter: OpenApiParameter, path: string): OpenApiParameter {
  const { required, ...rest } = parameter;
  const description = parameter.description ?? descriptionOf(parameter, path);
  return {
    ...rest,
    ...(required && parameter.schema.default === undefined ? { required } : {}),
    ...(description ? { description } : {}),
  };
}

/** `{id}` after `/cards` is the id of a card, `{role_key}` after `/stakeholder-roles` the key of a stakeholder role. */
function descriptionOf(parameter: OpenApiParameter, path: string): string | undefined {
  if (parameter.in !== 'path') return wellKnown[parameter.name];
  const parts = path.split('/');
  const thing = parts[parts.indexOf(`{${parameter.name}}`) - 1] ?? '';
  const member = parameter.name.split('_').at(-1)!;
  return `${member[0]!.toUpperCase()}${member.slice(1)} of the ${thing.replace(/s$/, '').replaceAll('-', ' ')}`;
}

/** The schema of a body as clients see it: a member with a default is optional. */
export function bodySchema(schema: Schema): Schema {
  const { required, ...rest } = schema;
  const properties = schema.properties ?? {};
  const needed = required?.filter((name) => properties[name]?.default === undefined);
  return {
    ...rest,
    ...(needed?.length ? { required: needed } : {}),
    ...(schema.properties
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, part]) => [name, bodySchema(part)]),
          ),
        }
      : {}),
    ...(schema.items ? { items: bodySchema(schema.items) } : {}),
  };
}
