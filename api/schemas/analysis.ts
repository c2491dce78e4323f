import Type from 'typebox';
import { closed } from '../../domain/kernel/shapes.ts';

export const AnalysisStatusOut = Type.Object(
  {
    ai_configured: Type.Boolean({ description: 'Whether a provider of language models is set up' }),
    ready: Type.Boolean({ description: 'Whether analyses can be run: they need no language model' }),
    enabled: Type.Boolean({ description: 'Whether the module is switched on' }),
  },
  { $id: 'AnalysisStatus', ...closed },
);
