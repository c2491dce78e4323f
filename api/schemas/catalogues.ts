import Type, { type TProperties } from 'typebox';
import { closed, Nullable, OpenObject, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

const line = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '\\S' });
const Text = Nullable(Type.String({ maxLength: 20_000 }));
const SortOrder = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 });
const Key = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$', examples: ['runbook'] });
const Translations = Type.Record(Type.String(), Type.String(), {
  description: 'The label by language, such as `de`',
});

const stamps = { created_at: Timestamp, updated_at: Timestamp };

export const PrincipleSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    title: Type.String(),
    description: Nullable(Type.String()),
    rationale: Type.String(),
    implications: Type.String(),
    is_active: Type.Boolean(),
    sort_order: Type.Integer(),
    catalogue_id: Nullable(Type.String({ description: 'Of the reference catalogue that it comes from' })),
    ...stamps,
  }),
  { $id: 'Principle', additionalProperties: false },
);

const labelled = {
  key: Type.String(),
  label: Type.String(),
  description: Nullable(Type.String()),
  is_enabled: Type.Boolean(),
  built_in: Type.Boolean(),
  sort_order: Type.Integer(),
  translations: OpenObject,
  ...stamps,
};

export const RegulationSchema = Type.Partial(Type.Object({ id: Uuid, ...labelled }), {
  $id: 'ComplianceRegulation',
  additionalProperties: false,
});

const kinds = [Type.Literal('link_type'), Type.Literal('file_category')];
const Kind = Type.Union(kinds);
export const KindFilter = Type.Union(kinds, { description: 'Link types or file categories only' });

export const ResourceTypeSchema = Type.Partial(
  Type.Object({ id: Uuid, kind: Kind, icon: Nullable(Type.String()), ...labelled }),
  { $id: 'ResourceType', additionalProperties: false },
);

const optional = <T extends TProperties>(members: T) => Type.Partial(Type.Object(members));

const principle = {
  description: Text,
  rationale: Text,
  implications: Text,
  is_active: Type.Boolean(),
  sort_order: SortOrder,
};
export const PrincipleCreateBody = Type.Object(
  { title: line(300), ...optional(principle).properties },
  closed,
);
export const PrinciplePatchBody = Type.Object(optional({ title: line(300), ...principle }).properties, {
  ...closed,
  minProperties: 1,
});

const entry = {
  description: Text,
  is_enabled: Type.Boolean(),
  sort_order: SortOrder,
  translations: Translations,
};
export const RegulationCreateBody = Type.Object(
  { key: Key, label: line(300), ...optional(entry).properties },
  closed,
);
export const RegulationPatchBody = Type.Object(optional({ label: line(300), ...entry }).properties, {
  ...closed,
  minProperties: 1,
});

const resource = { ...entry, icon: Nullable(Type.String({ maxLength: 100 })) };
export const ResourceTypeCreateBody = Type.Object(
  { kind: Kind, key: Key, label: line(300), ...optional(resource).properties },
  closed,
);
export const ResourceTypePatchBody = Type.Object(optional({ label: line(300), ...resource }).properties, {
  ...closed,
  minProperties: 1,
});
