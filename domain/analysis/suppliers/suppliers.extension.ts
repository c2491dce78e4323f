import type { Extension } from '../../kernel/extensions.ts';
import { vendorHierarchyJob, vendorsJob } from './suppliers.jobs.ts';

/** Suppliers and their hierarchy. */
export const suppliersExtension: Extension = {
  jobs: [vendorsJob, vendorHierarchyJob],
};
