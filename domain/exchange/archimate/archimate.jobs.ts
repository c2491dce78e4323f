import Type, { type Static } from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { Choice, Flag, object, TypeKeys } from '../../kernel/shapes.ts';

/** How a model is imported. Shared by the request and the job. */
export const archimateOptions = {
  mode: Choice(['create', 'upsert'], '`create` refuses what exists already, `upsert` changes it', 'create'),
  dry_run: Flag('Say what would become of the model, and write nothing'),
  report: Choice(['failed', 'all'], 'Which entries the report contains', 'failed'),
};

const ImportPayload = object({ ...archimateOptions, file_id: Type.String({ format: 'uuid' }) });
export type ArchimateImport = Static<typeof ImportPayload>;

/** Imports a model of the ArchiMate exchange format in one transaction; an interrupted run starts over. */
export const archimateImportJob = defineJob({
  kind: 'archimate-import',
  queue: 'bulk',
  payload: ImportPayload,
  attempts: 3,
  resumable: false,
});

/** The contents of an exported model. Shared by the request and the job. */
export const ArchimateExport = object({
  types: TypeKeys('Card types; none: all'),
  filter: Type.String({ default: '', maxLength: 4000, description: 'Which cards, in the filter language' }),
  views: Type.Boolean({ default: true, description: 'Whether the diagrams that you see are in it' }),
});
export type ArchimateExport = Static<typeof ArchimateExport>;

/** Exports the inventory as a model of the ArchiMate exchange format; an interrupted run starts over. */
export const archimateExportJob = defineJob({
  kind: 'archimate-export',
  queue: 'bulk',
  payload: ArchimateExport,
  attempts: 3,
  retentionDays: 30,
  resumable: false,
});
