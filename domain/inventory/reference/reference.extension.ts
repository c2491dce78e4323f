import type { Extension } from '../../kernel/extensions.ts';
import { ReferenceCatalogue } from './reference.model.ts';

/** Reference catalogues. */
export const referenceExtension: Extension = {
  resources: [
    {
      model: ReferenceCatalogue,
      name: 'reference catalogue',
      events: { created: ['reference_catalogue.loaded'], deleted: ['reference_catalogue.removed'] },
      undo: { refused: 'Catalogues are loaded again from their source.' },
      transfer: { key: ['kind'], label: 't.kind', replaced: true },
    },
  ],
};
