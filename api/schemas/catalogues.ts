import Type, { type TProperties } from 'typebox';
import {
  Principle,
  Regulation,
  ResourceType,
  resourceKinds,
} from '../../domain/governance/catalogues/catalogues.model.ts';
import { Choice, itemComponent, Nullable, object } from '../../domain/kernel/shapes.ts';
import { bodiesOf } from './common.ts';

const line = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '\\S' });
const Text = Principle.columns.description;
const SortOrder = Principle.columns.sort_order;
const Key = Regulation.columns.key;
const Kind = ResourceType.columns.kind;
const Translations = Type.Record(Type.String(), Type.String(), {
  description: 'The label by language, such as `de`',
});

export const PrincipleSchema = itemComponent('Principle', Principle.columns);
export const RegulationSchema = itemComponent('ComplianceRegulation', Regulation.columns);
export const ResourceTypeSchema = itemComponent('ResourceType', ResourceType.columns);
export const KindFilter = Choice(resourceKinds, 'Only link types, or only file categories');

const principle = {
  description: Text,
  rationale: Text,
  implications: Text,
  is_active: Type.Boolean(),
  sort_order: SortOrder,
};
const catalogueBodies = <R extends TProperties, O extends TProperties>(required: R, optional: O) => {
  const { create, patch } = bodiesOf(required, optional);
  const { key: _, kind: __, ...members } = patch.properties as TProperties;
  return { create, patch: object(members, { minProperties: 1 }) };
};
export const principleBodies = catalogueBodies({ title: line(300) }, principle);

const entry = {
  description: Text,
  is_enabled: Type.Boolean(),
  sort_order: SortOrder,
  translations: Translations,
};
export const regulationBodies = catalogueBodies({ key: Key, label: line(300) }, entry);

export const resourceTypeBodies = catalogueBodies(
  { kind: Kind, key: Key, label: line(300) },
  { ...entry, icon: Nullable(Type.String({ maxLength: 100 })) },
);
