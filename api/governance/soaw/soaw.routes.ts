import Type from 'typebox';
import { signedStatuses } from '../../../domain/governance/signatures/signatures.types.ts';
import { createSoaw, deleteSoaw, soawKind, soawList } from '../../../domain/governance/soaw/soaw.kind.ts';
import {
  DocumentHead,
  entry,
  info,
  MAX_NAME,
  SectionSchema,
  Sections,
  sections,
  VersionHistory,
} from '../../../domain/governance/soaw/soaw.model.ts';
import {
  Choice,
  Clearable,
  component,
  itemComponent,
  Nullable,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { readSoawFile } from '../../../reports/governance/documents/signed-documents.ts';
import { created, ok, routesOf } from '../../operation.ts';
import { bodiesOf, listResponse } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { IntegrityMember, RejectionMember, signedMembers } from '../signatures/signatures.schemas.ts';
import { registerSignedDocument } from '../signatures/signing.routes.ts';

const Status = Choice(signedStatuses);
const content = {
  name: Type.String({ minLength: 1, maxLength: MAX_NAME }),
  initiative_id: Nullable(Type.String({ ...Uuid, description: 'A card of the type Initiative' })),
  document_info: object(info),
  version_history: Type.Array(object(entry)),
  sections: sections(SectionSchema),
};
const soawMembers = {
  id: Uuid,
  ...content,
  initiative_name: Nullable(Type.String()),
  status: Status,
  ...signedMembers,
  rejection: RejectionMember,
};
const SoawSchema = component('Soaw', { ...soawMembers, integrity: IntegrityMember });
/** A statement in a list, with the requested members. */
const SoawItemSchema = itemComponent('SoawItem', soawMembers);

const bodies = bodiesOf(
  { name: content.name },
  {
    initiative_id: content.initiative_id,
    document_info: Nullable(DocumentHead),
    version_history: Nullable(VersionHistory),
    sections: Nullable(Sections),
  },
);
const SoawCreateBody = object({
  ...bodies.create.properties,
  status: Type.Optional(Type.String({ description: '`draft`; others are refused with `use_operation`' })),
});
const SoawPatchBody = object({
  ...bodies.patch.properties,
  status: Clearable(
    Type.String({
      description: 'Can change between `draft` and `approved`; others are refused with `use_operation`',
    }),
  ),
});

const tag = 'Statements of architecture work';
const url = '/api/v1/soaw';
const listed = listResponse(SoawItemSchema);

/** Statements of architecture work, about an initiative or none. */
export function registerSoawRoutes(app: App): void {
  const reading = routesOf(app, { tag, permission: 'soaw.view' });
  const managing = routesOf(app, { tag, permission: 'soaw.manage' });

  reading.list('listSoaws', url, soawList, {
    summary: 'List statements of architecture work',
    description: '`search` searches all contents. With `fields` the sections can be left out.',
    responses: ok('Statements, newest first', listed),
  });

  managing.post('createSoaw', url, {
    summary: 'Create a statement of architecture work as a draft',
    body: SoawCreateBody,
    responses: created('The statement', SoawSchema),
    errors: ['use_operation'],
    handler: ({ ctx, body }) => createSoaw(ctx, body as Parameters<typeof createSoaw>[1]),
  });

  managing.delete('deleteSoaw', '/api/v1/soaw/:soaw_id', {
    summary: 'Delete a statement of architecture work',
    description: 'In any state; its other revisions remain.',
    ifMatch: true,
    handler: ({ ctx, params }) => deleteSoaw(ctx, params.soaw_id),
  });

  registerSignedDocument(app, {
    kind: soawKind,
    tag,
    url,
    parameter: 'soaw_id',
    name: 'Soaw',
    one: 'a statement of architecture work',
    short: 'statement',
    schema: SoawSchema,
    patch: {
      body: SoawPatchBody,
      description: '`document_info`, `version_history` and `sections` are replaced completely.',
    },
    export: {
      formats: ['docx', 'pdf'],
      description:
        'With title block, version history, sections that are not hidden, tables, and signatures with their hash.',
      read: readSoawFile,
    },
    listed,
    sorts: soawList.sorts,
  });
}
