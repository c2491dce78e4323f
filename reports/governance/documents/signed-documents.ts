import {
  type AdrRow,
  adrKind,
  adrList,
  adrLists,
  adrTexts,
  referenceNumber,
  wholeMembers,
} from '../../../domain/governance/adr/adr.kind.ts';
import { madrSections, writeMadr } from '../../../domain/governance/adr/madr.ts';
import { recordText } from '../../../domain/governance/signatures/signatures.records.ts';
import { integrityOf } from '../../../domain/governance/signatures/signatures.rules.ts';
import type { SignedKind, SignedRow } from '../../../domain/governance/signatures/signatures.types.ts';
import { sectionNumbers } from '../../../domain/governance/soaw/soaw.content.ts';
import { soawKind } from '../../../domain/governance/soaw/soaw.kind.ts';
import { type Section, type SoawRow, togafPhases } from '../../../domain/governance/soaw/soaw.model.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { readList } from '../../../domain/kernel/lists/lists.define.ts';
import type { ListParamsOf } from '../../../domain/kernel/lists/lists.types.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { findRows } from '../../../domain/kernel/resources/rows.ts';
import { EstateError } from '../../../platform/errors.ts';
import type {
  Block,
  Cell,
  DocumentFormat,
  Part,
  PrintDocument,
} from '../../kernel/documents/document.types.ts';

/** A stored document and its JSON for the caller. */
interface ReadDocument<Row extends SignedRow> {
  row: Row;
  text: Record<string, unknown>;
}

/** Reads a document for export. @throws EstateError `forbidden`, `not_found`. */
async function readDocument<Row extends SignedRow>(
  ctx: Ctx,
  kind: SignedKind<Row>,
  id: string,
): Promise<ReadDocument<Row>> {
  requirePermission(ctx.caller, kind.rights.view);
  const text = await recordText(ctx.db, ctx, kind, id);
  const [row] = await findRows(ctx.db, kind.model, (query) => query.where({ id }));
  return { row: row as Row, text: JSON.parse(text) };
}

const statusNames = {
  draft: 'Draft',
  in_review: 'In review',
  approved: 'Approved',
  signed: 'Signed',
} as const;

/** Formats a time for a file, in UTC to the minute. */
const formatTime = (at: string): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** The title lines, signatures and integrity note of a signed document's file. */
function signedFacts<Row extends SignedRow>(
  kind: SignedKind<Row>,
  { row, text }: ReadDocument<Row>,
): Pick<PrintDocument, 'facts' | 'signatures' | 'notice' | 'written'> {
  const signatories = text.signatories as {
    display_name: string;
    signed_at: string | null;
    content_hash: string | null;
  }[];
  const author = text.creator_name as string | null;
  const facts: [string, string][] = [
    ['Status', statusNames[row.status]],
    ['Revision', String(row.revision_number)],
    ...(author ? [['Author', author] as [string, string]] : []),
    ['Last written', formatTime(String(row.updated_at))],
    ...(row.signed_at ? [['Signed', formatTime(row.signed_at)] as [string, string]] : []),
    ...(row.content_hash ? [['SHA-256', row.content_hash] as [string, string]] : []),
  ];
  const changed = integrityOf(kind.contentOf(row), row) === 'changed';
  const notice = changed
    ? 'The content differs from the signed content: it was changed outside the service.'
    : row.status === 'signed'
      ? null
      : 'Not signed yet.';
  return {
    facts,
    notice,
    written: String(row.signed_at ?? row.updated_at),
    signatures: signatories.map(({ display_name, signed_at, content_hash }) => ({
      name: display_name || 'Deleted user',
      when: signed_at ? formatTime(signed_at) : 'not yet',
      hash: content_hash,
    })),
  };
}

/** A decision for export: the file name without extension, and its content. @throws EstateError `forbidden`, `not_found`. */
export async function readAdrFile(ctx: Ctx, id: string) {
  const document = await readDocument(ctx, adrKind, id);
  const { row } = document;
  return {
    name: `${referenceNumber(row.number)}${row.revision_number > 1 ? `-r${row.revision_number}` : ''}`,
    paper: adrDocument(document),
    /** With the sections of MADR. */
    markdown: writeMadr(row, {
      status: madrStatus[row.status],
      date: (row.signed_at ?? String(row.updated_at)).slice(0, 10),
      reference: referenceNumber(row.number),
      revision: row.revision_number,
    }),
  };
}

/** Decisions in one file, and characters of their texts. */
const MAX_DECISIONS = 100;
const MAX_CHARACTERS = { docx: 1_000_000, pdf: 400_000 };

const length = [...adrTexts, ...adrLists].map((name) => `coalesce(length(a.${name}::text), 0)`).join(' + ');

/**
 * The decisions that match, by number and revision, as one document with a table of contents.
 * @throws EstateError `forbidden`, `query_too_heavy` for too many.
 */
export async function readAdrsFile(
  ctx: Ctx,
  filters: Partial<ListParamsOf<NonNullable<typeof adrList.filters>>>,
  format: DocumentFormat,
): Promise<{ name: string; paper: PrintDocument }> {
  const params = { ...filters, sort_by: 'reference_number', sort_dir: 'asc' as const };
  const page = { ...params, page: 1, page_size: MAX_DECISIONS };
  const sized = { ...adrList, members: { length } };
  const { total, items: sizes } = JSON.parse(await readList(ctx, sized, page));
  const characters = (sizes as { length: number }[]).reduce((sum, { length }) => sum + length, 0);
  const most = MAX_CHARACTERS[format];
  if (total > MAX_DECISIONS || characters > most) {
    const found = `there are ${total}${total > MAX_DECISIONS ? '' : ` with ${characters}`}`;
    const message = `A ${format} file has at most ${MAX_DECISIONS} decisions with ${most} characters, and ${found}: filter them.`;
    throw new EstateError('query_too_heavy', message);
  }
  const { items } = JSON.parse(await readList(ctx, { ...adrList, members: wholeMembers }, page));
  const texts = items as { id: string }[];
  const rows = await findRows(ctx.db, adrKind.model, (query) =>
    query.whereIn(
      'id',
      texts.map(({ id }) => id),
    ),
  );
  const byId = new Map((rows as AdrRow[]).map((row) => [row.id, row]));
  const documents = texts.flatMap((text): ReadDocument<AdrRow>[] => {
    const row = byId.get(text.id);
    return row ? [{ row, text }] : [];
  });
  return { name: 'architecture-decisions', paper: collected(documents) };
}

function collected(documents: ReadDocument<AdrRow>[]): PrintDocument {
  const papers = documents.map(adrDocument);
  const contents = documents.map(({ row }, n): Block[] => [
    { kind: 'paragraph', inlines: [{ text: `${papers[n]!.title} (${statusNames[row.status]})` }] },
  ]);
  return {
    kind: 'Architecture decision records',
    title: 'Architecture decisions',
    facts: [['Decisions', String(papers.length)]],
    parts: [
      { kind: 'list', ordered: false, start: 1, items: contents },
      ...papers.map((paper): Part => ({ kind: 'document', paper })),
    ],
    signatures: [],
    notice: null,
    footer: 'Architecture decisions',
    written:
      papers
        .map(({ written }) => written)
        .sort()
        .at(-1) ?? new Date().toISOString(),
  };
}

function adrDocument(document: ReadDocument<AdrRow>): PrintDocument {
  const { row, text } = document;
  const cards = (text.linked_cards as { name: string; type: string }[]).map(
    ({ name, type }) => `${name} (${type})`,
  );
  const lists: [string, string[]][] = [
    ['Decision makers', row.decision_makers],
    ['Consulted', row.consulted],
    ['Informed', row.informed],
    ['Related decisions', row.related_decisions],
    ['Cards', cards],
  ];
  const shared = signedFacts(adrKind, document);
  const reference = referenceNumber(row.number);
  return {
    ...shared,
    kind: 'Architecture decision record',
    title: `${reference} ${row.title}`,
    facts: [
      ...shared.facts,
      ...lists
        .filter(([, values]) => values.length > 0)
        .map(([label, values]): [string, string] => [label, values.join(', ')]),
    ],
    parts: madrSections.flatMap(({ text: name, heading, depth }) => {
      const content = row[name];
      const needed = name === 'decision' && (row.consequences || row.confirmation);
      if (!content && !needed) return [];
      return [
        { kind: 'heading' as const, level: depth - 1, inlines: [{ text: heading }] },
        { kind: 'markdown' as const, text: content, level: depth },
      ];
    }),
    footer: `${reference}, revision ${row.revision_number}`,
  };
}

const madrStatus = { draft: 'proposed', in_review: 'proposed', signed: 'accepted' } as const;

/** A statement for export: the file name without extension, and its content. @throws EstateError `forbidden`, `not_found`. */
export async function readSoawFile(ctx: Ctx, id: string) {
  const document = await readDocument(ctx, soawKind, id);
  const name = document.row.name
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 80);
  return { name: `SoAW-${name || document.row.id}`, paper: soawDocument(document) };
}

function soawDocument(document: ReadDocument<SoawRow>): PrintDocument {
  const { row, text } = document;
  const shared = signedFacts(soawKind, document);
  const { prepared_by, review_date, reviewed_by } = row.document_info;
  const facts: [string, string | null | undefined][] = [
    ['Initiative', text.initiative_name as string | null],
    ['Prepared by', prepared_by],
    ['Reviewed by', reviewed_by],
    ['Review date', review_date],
  ];
  const given = facts.filter((fact): fact is [string, string] => Boolean(fact[1]));
  return {
    ...shared,
    kind: 'Statement of architecture work',
    title: row.name,
    facts: [...given, ...shared.facts],
    parts: [
      ...historyOf(row),
      ...sectionNumbers(row.sections)
        .filter((number) => !row.sections[number]!.hidden)
        .flatMap((number) => sectionParts(number, row.sections[number]!)),
    ],
    footer: `${row.name.length > 70 ? `${row.name.slice(0, 69).toWellFormed()}…` : row.name}, revision ${row.revision_number}`,
  };
}

const cellsOf = (texts: (string | null | undefined)[]): Cell[] => texts.map((text) => [{ text: text ?? '' }]);

function historyOf({ version_history: history }: SoawRow): Block[] {
  if (history.length === 0) return [];
  return [
    { kind: 'heading', level: 1, inlines: [{ text: 'Version history' }] },
    {
      kind: 'table',
      header: cellsOf(['Version', 'Date', 'Revised by', 'Description']),
      rows: history.map(({ version, date, revised_by, description }) =>
        cellsOf([version, date, revised_by, description]),
      ),
    },
  ];
}

/** A section under its number and title. */
function sectionParts(number: string, section: Section): Part[] {
  const heading = section.title ? `${number} ${section.title}` : number;
  const parts: Part[] = [{ kind: 'heading', level: 1, inlines: [{ text: heading }] }];
  parts.push({ kind: 'html', text: section.content ?? '' });
  const { table_data: table, togaf_data: togaf } = section;
  if (table && table.columns.length > 0) {
    parts.push({ kind: 'table', header: cellsOf(table.columns), rows: table.rows.map(cellsOf) });
  }
  const phases = togafPhases.filter((phase) => togaf?.[phase]);
  if (phases.length > 0) {
    const rows = phases.map((phase) => cellsOf([phase, togaf![phase]]));
    parts.push({ kind: 'table', header: cellsOf(['Phase', 'Use']), rows });
  }
  return parts;
}
