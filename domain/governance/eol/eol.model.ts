import Type from 'typebox';
import { type RowOf, rowModel, SqlArray } from '../../kernel/resources/rows.ts';
import { Choice, DateOnly, Nullable, NullableText, Timestamp } from '../../kernel/shapes.ts';

/** The origin of facts: the public API, a loaded file, or the program. */
const factSources = ['api', 'file', 'bundled'] as const;
export type FactSource = (typeof factSources)[number];

/** The topic of product facts. */
export const EOL_TOPIC = 'eol';

const Text = Nullable(Type.String());
const Day = Nullable(DateOnly);
const Flag = Nullable(Type.Boolean());
const Link = Nullable(Type.String({ format: 'uri' }));

export class EolProduct extends rowModel('eol_products', {
  name: Type.String({ description: 'As the source names it', examples: ['postgresql'] }),
  label: Type.String({ examples: ['PostgreSQL'] }),
  category: Nullable(Type.String({ examples: ['database'] })),
  aliases: SqlArray(Type.String()),
  link: Link,
  source: Choice(
    factSources,
    '`api`: read from the source in the settings; `file`: loaded from a document; `bundled`: part of the program',
  ),
  /** Hash of the facts, so that unchanged facts are not written. */
  digest: Type.String(),
  /** Validators of the last response, for conditional requests. */
  etag: Text,
  last_modified: Text,
  checked_at: Timestamp,
  changed_at: Timestamp,
}) {}

export class EolCycle extends rowModel('eol_cycles', {
  product: Type.String(),
  cycle: Type.String({ examples: ['17'] }),
  codename: Text,
  release_date: Day,
  /** Last day of active support; null without such a phase, or if its end is unknown. */
  support_until: Day,
  /** Whether there is active support, if its end is unknown. */
  is_supported: Flag,
  /** First day without any support. */
  eol_from: Day,
  /** Whether all support has ended, if the day is unknown. */
  is_eol: Flag,
  lts_from: Day,
  is_lts: Flag,
  discontinued_from: Day,
  is_discontinued: Flag,
  latest: NullableText('The newest version'),
  latest_release_date: Day,
  link: Link,
}) {}

/** The facts about a release cycle of a product. */
export type CycleFacts = Omit<RowOf<typeof EolCycle>, 'product'>;

/** The facts about a product. */
export type ProductFacts = Pick<
  RowOf<typeof EolProduct>,
  'name' | 'label' | 'category' | 'aliases' | 'link'
> & { cycles: CycleFacts[] };
