import Type from 'typebox';
import { rowModel } from '../../kernel/resources/rows.ts';
import { Choice, DateOnly, Nullable, Timestamp } from '../../kernel/shapes.ts';
import { factSources } from './eol.types.ts';

const Text = Nullable(Type.String());
const Day = Nullable(DateOnly);
const Flag = Nullable(Type.Boolean());
const Link = Nullable(Type.String({ format: 'uri' }));

export class EolProduct extends rowModel('eol_products', {
  name: Type.String({ description: 'As the source names it', examples: ['postgresql'] }),
  label: Type.String({ examples: ['PostgreSQL'] }),
  category: Nullable(Type.String({ examples: ['database'] })),
  aliases: Type.Array(Type.String()),
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
  support_until: Day,
  is_supported: Flag,
  eol_from: Day,
  is_eol: Flag,
  lts_from: Day,
  is_lts: Flag,
  discontinued_from: Day,
  is_discontinued: Flag,
  latest: Nullable(Type.String({ description: 'The newest version' })),
  latest_release_date: Day,
  link: Link,
}) {}
