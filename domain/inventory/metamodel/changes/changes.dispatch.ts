import type { JsonText } from '../../../kernel/lists/lists.types.ts';
import { createCardType, deleteCardType, patchCardType } from '../card-types/card-types.changes.ts';
import {
  createRelationType,
  deleteRelationType,
  patchRelationType,
  restoreRelationType,
} from '../relation-types/relation-types.changes.ts';
import { archiveRole, createRole, patchRole, restoreRole } from '../roles/roles.changes.ts';
import type { ChangeRun } from './changes.types.ts';

/** What is asked for: the operation, what it is about, and the body that was sent. */
export interface MetamodelChange {
  operation: ChangeOperation;
  /** The key of the card type or relation type; of a role, of its card type. */
  key: string;
  /** The key of the stakeholder role. */
  role?: string;
  body?: Record<string, unknown>;
}

type Handler = (run: ChangeRun, change: MetamodelChange) => Promise<JsonText>;

const handlers = {
  create_card_type: (run, { body }) => createCardType(run, body!),
  patch_card_type: (run, { key, body }) => patchCardType(run, key, body!),
  delete_card_type: (run, { key }) => deleteCardType(run, key),
  create_relation_type: (run, { body }) => createRelationType(run, body!),
  patch_relation_type: (run, { key, body }) => patchRelationType(run, key, body!),
  delete_relation_type: (run, { key }) => deleteRelationType(run, key),
  restore_relation_type: (run, { key }) => restoreRelationType(run, key),
  create_role: (run, { key, body }) => createRole(run, key, body!),
  patch_role: (run, { key, role, body }) => patchRole(run, key, role!, body!),
  archive_role: (run, { key, role }) => archiveRole(run, key, role!),
  restore_role: (run, { key, role }) => restoreRole(run, key, role!),
} satisfies Record<string, Handler>;

export type ChangeOperation = keyof typeof handlers;

/** Carries out one change within a command that takes the metamodel alone, its held events included. */
export async function carryOut(run: ChangeRun, change: MetamodelChange): Promise<JsonText> {
  const handler: Handler = handlers[change.operation];
  const text = await handler(run, change);
  await run.held?.record();
  return text;
}
