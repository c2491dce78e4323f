import { defineRoutine } from '../../kernel/jobs/jobs.define.ts';

/** Deletes the cards that were archived longer ago than the configured retention. */
export const archivePurgeJob = defineRoutine('archive_purge');
