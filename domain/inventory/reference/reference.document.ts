import Type from 'typebox';
import { Clearable, object, optional } from '../../kernel/shapes.ts';
import { ReferenceCatalogue } from './reference.extension.ts';

export const NodeId = Type.String({ minLength: 1, maxLength: 200, examples: ['BC-100.10'] });
export const Locale = Type.String({ pattern: '^[a-z]{2}(-[A-Z]{2})?$', examples: ['de'] });

const Texts = (maxLength: number) =>
  Type.Record(Locale, Type.String({ maxLength }), { maxProperties: 20, description: 'By language' });
const Lines = (maxLength: number, description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength }), { maxItems: 50, description });

/** What an entry says besides its name and place. */
export const nodeDetails = {
  aliases: Lines(200, 'Other names'),
  references: Lines(1000, 'Sources, as texts or URLs'),
  framework_ids: Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 200 }), {
    maxProperties: 20,
    description: 'Its ids in frameworks, by their names',
  }),
  is_deprecated: Type.Boolean({ description: 'Only listed with `include_deprecated`' }),
  capability_ids: Lines(200, 'Capabilities of their catalogue to which an import relates its card'),
  process_ids: Lines(200, 'Processes of their catalogue to which an import relates its card'),
};

const { catalogue_version, source } = ReferenceCatalogue.columns;

/** A catalogue as it is loaded, in a request or a published file. */
export const documentMembers = {
  catalogue_version,
  source,
  nodes: Type.Array(
    object({
      id: NodeId,
      parent_id: Clearable(NodeId),
      names: Texts(500),
      ...optional({
        descriptions: Texts(10_000),
        industry: Type.String({ minLength: 1, maxLength: 100 }),
        notes: Texts(10_000),
        ...nodeDetails,
      }),
    }),
    { minItems: 1, maxItems: 20_000, description: 'Parents before their children' },
  ),
  csv: Type.String({
    maxLength: 16_000_000,
    description:
      'Instead of `nodes`, a table: `id`, `parent_id`, `industry`, `name`, `description`, `notes`, by language `name.de`, `is_deprecated`, and, separated by semicolons, `aliases`, `references`, `capability_ids`, `process_ids`; or one of cards, with `type`, `external_id` and `parent_external_id`',
  }),
};
