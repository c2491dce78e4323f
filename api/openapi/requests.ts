import type { OpenApiParameter, Schema } from './document.ts';

/** Query parameters that mean the same wherever they stand. */
const wellKnown: Record<string, string> = {
  action: 'What to do',
  card_id: 'Only what belongs to this card',
  filter: 'An expression of the filter language; empty for all',
  from: 'From this moment on',
  include_archived: 'Whether to show archived ones too',
  include_hidden: 'Whether to show hidden ones too',
  include_inactive: 'Whether to show inactive ones too',
  kind: 'What the rows of the file are',
  limit: 'At most so many items',
  page: 'From 1',
  page_size: 'Items on a page',
  neutralise: 'Whether cells that a spreadsheet program would calculate are disarmed',
  profile: '`report` for people and tools, `roundtrip` for importing it again',
  since: 'From this moment on',
  type_key: 'Only what has this card type',
  until: 'Before this moment',
  user_id: 'Only what belongs to this user',
};

/** A path or query parameter with its description; one with a default may be left out. */
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

/** The schema of a body as clients see it: a member with a default may be left out. */
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
