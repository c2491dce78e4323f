import Type, { type Static } from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { Flag } from '../../kernel/shapes.ts';

/** The contents of an archive. Shared by the request and the job. */
export const WorkspaceExport = Type.Object(
  {
    include_archived: Flag('Whether archived cards, and what hangs on them, are in it'),
  },
  { additionalProperties: false },
);
export type WorkspaceExport = Static<typeof WorkspaceExport>;

/** Exports the whole workspace as one archive, from one snapshot; an interrupted run starts over. */
export const workspaceExportJob = defineJob({
  kind: 'workspace-export',
  queue: 'bulk',
  payload: WorkspaceExport,
  attempts: 3,
  retentionDays: 30,
  resumable: false,
});

const Transfer = Type.Object(
  { transfer_id: Type.String({ format: 'uuid' }) },
  { additionalProperties: false },
);
export type WorkspaceTransferPayload = Static<typeof Transfer>;

const whyNotAgain = async () => 'A transfer that has failed is over: upload the archive again.';

/** Checks an uploaded archive and determines its changes; an interrupted run starts over. */
export const workspaceParseJob = defineJob({
  kind: 'workspace-parse',
  queue: 'bulk',
  payload: Transfer,
  attempts: 3,
  resumable: false,
  whyNotAgain,
});

/** Applies a checked archive page by page; an interrupted run resumes. */
export const workspaceApplyJob = defineJob({
  kind: 'workspace-apply',
  queue: 'bulk',
  payload: Transfer,
  attempts: 3,
  resumable: true,
  whyNotAgain,
});
