import Type from 'typebox';
import { rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, NullableText, OpenObject, Timestamp, Uuid } from '../../kernel/shapes.ts';

const Label = Type.String({ minLength: 1, maxLength: 300 });
const Text = Type.String({ maxLength: 20_000 });
const SortOrder = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 });

/** A principle against which architecture decisions are checked. */
export class Principle extends rowModel('principles', {
  id: Uuid,
  title: Label,
  description: Nullable(Text),
  rationale: Text,
  implications: Text,
  is_active: Type.Boolean(),
  sort_order: SortOrder,
  catalogue_id: NullableText('Its id in the reference catalogue, if it was imported'),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}

const labelled = {
  id: Uuid,
  key: Type.String({ maxLength: 100, pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$', examples: ['runbook'] }),
  label: Label,
  description: Nullable(Text),
  is_enabled: Type.Boolean(),
  built_in: Type.Boolean(),
  sort_order: SortOrder,
  translations: OpenObject,
  created_at: Timestamp,
  updated_at: Timestamp,
};

export class Regulation extends rowModel('compliance_regulations', labelled) {}

export const resourceKinds = ['link_type', 'file_category'] as const;

/** A type of links, or a category of files. */
export class ResourceType extends rowModel('resource_types', {
  ...labelled,
  kind: Choice(resourceKinds),
  icon: Nullable(Type.String({ maxLength: 100 })),
}) {}
