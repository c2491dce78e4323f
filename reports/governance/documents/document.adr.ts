import { type AdrRow, adrKind, referenceNumber } from '../../../domain/governance/adr/adr.kind.ts';
import { madrSections, writeMadr } from '../../../domain/governance/adr/madr.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { notFound } from '../../../platform/errors.ts';
import type { PrintDocument } from '../../kernel/documents/document.types.ts';
import { type ReadDocument, readDocument, signedFacts } from './document.read.ts';

/** A decision for export: the file name without extension, and its content. */
export interface AdrFile {
  name: string;
  paper: PrintDocument;
  /** Markdown with the sections of MADR. */
  markdown: string;
}

/** Reads a decision for a file. @throws EstateError `forbidden`, `not_found`. */
export async function readAdrFile(ctx: Ctx, id: string): Promise<AdrFile> {
  requirePermission(ctx.caller, adrKind.rights.view);
  const document = await readDocument(ctx, adrKind, id);
  if (!document) throw notFound(adrKind.entity, id);
  const { row } = document;
  return {
    name: `${referenceNumber(row.number)}${row.revision_number > 1 ? `-r${row.revision_number}` : ''}`,
    paper: adrDocument(document),
    markdown: adrMarkdown(row),
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

function adrMarkdown(row: AdrRow): string {
  return writeMadr(row, {
    status: madrStatus[row.status],
    date: (row.signed_at ?? String(row.updated_at)).slice(0, 10),
    reference: referenceNumber(row.number),
    revision: row.revision_number,
  });
}
