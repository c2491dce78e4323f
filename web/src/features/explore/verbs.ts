import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import type { GraphEdge } from './explorer.data.ts';

/** Whether data goes out of an end, comes in, or both. */
function directionOf(isSource: boolean, flow: GraphEdge['flow']): 'sends' | 'receives' | 'exchanges' {
  if (flow === 'bidirectional') return 'exchanges';
  return isSource === (flow !== 'reverse') ? 'sends' : 'receives';
}

/** Says a relation from one of its ends, such as `supports` or `is supported by`. */
export function useVerb(): (edge: GraphEdge, from: string) => string {
  const t = useTexts();
  const { relationType, verb } = useMetamodel();
  return ({ type, source, flow }, from) => {
    if (type === 'data-flow') return t(`explorer.${directionOf(source === from, flow)}`);
    const known = relationType(type);
    if (!known) return type;
    return verb(known, source === from ? 'outgoing' : 'incoming');
  };
}
