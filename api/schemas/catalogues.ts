import Type, { type TProperties } from 'typebox';
import {
  Principle,
  Regulation,
  ResourceType,
  resourceKinds,
} from '../../domain/governance/catalogues/catalogues.model.ts';
import { Choice, closed, Nullable } from '../../domain/kernel/shapes.ts';

const line = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '\\S' });
const Text = Principle.columns.description;
const SortOrder = Principle.columns.sort_order;
const Key = Regulation.columns.key;
const Kind = ResourceType.columns.kind;
const Translations = Type.Record(Type.String(), Type.String(), {
  description: 'The label by language, such as `de`',
});

export const PrincipleSchema = Type.Partial(Type.Object(Principle.columns), { $id: 'Principle', ...closed });
export const RegulationSchema = Type.Partial(Type.Object(Regulation.columns), {
  $id: 'ComplianceRegulation',
  ...closed,
});
export const ResourceTypeSchema = Type.Partial(Type.Object(ResourceType.columns), {
  $id: 'ResourceType',
  ...closed,
});
export const KindFilter = Choice(resourceKinds, 'Only link types, or only file categories');

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
