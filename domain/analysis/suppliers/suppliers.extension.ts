import type { Extension } from '../../kernel/extensions.ts';
import { computedByRuns, vendorHierarchyJob, vendorsJob } from '../runs/runs.ts';
import { Supplier, SupplierCard, SupplierName } from './suppliers.model.ts';

/** Suppliers and their hierarchy. */
export const suppliersExtension: Extension = {
  resources: [
    { ...computedByRuns, model: Supplier, name: 'supplier' },
    { ...computedByRuns, model: SupplierName, name: 'supplier name' },
    { ...computedByRuns, model: SupplierCard, name: 'supplier card' },
  ],
  jobs: [vendorsJob, vendorHierarchyJob],
};
