import { sectionNumbers } from '../../../domain/governance/soaw/soaw.content.ts';
import { soawKind } from '../../../domain/governance/soaw/soaw.kind.ts';
import { type Section, type SoawRow, togafPhases } from '../../../domain/governance/soaw/soaw.model.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Block, Cell, Part, PrintDocument } from '../../kernel/documents/document.types.ts';
import { type ReadDocument, readDocument, signedFacts } from './document.read.ts';

/** A statement for export: the file name without extension, and its content. */
export interface SoawFile {
  name: string;
  paper: PrintDocument;
}

/** Reads a statement for a file. @throws EstateError `forbidden`, `not_found`. */
export async function readSoawFile(ctx: Ctx, id: string): Promise<SoawFile> {
  requirePermission(ctx.caller, soawKind.rights.view);
  const document = await readDocument(ctx, soawKind, id);
  if (!document) throw notFound(soawKind.entity, id);
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
    parts.push({
      kind: 'table',
      header: cellsOf(['Phase', 'Use']),
      rows: phases.map((phase) => cellsOf([phase, togaf![phase]])),
    });
  }
  return parts;
}
