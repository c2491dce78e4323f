import { useQuery } from '@tanstack/react-query';
import { call, type ListCardDataFlowsResponse, readFlowFrequencies } from '#client';
import type { MessageKey } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';

export type Flow = Required<ListCardDataFlowsResponse['items'][number]>;

/** Which way data flows, seen from a card, and the cards at the other ends. */
export function flowEnds({ source, target, direction }: Flow, id: string) {
  const isSource = source.id === id;
  const isEnd = isSource || target.id === id;
  const seen = (icon: string, text: MessageKey) => ({
    icon,
    text,
    cards: isEnd ? [isSource ? target : source] : [source, target],
  });
  if (direction === 'bidirectional') return seen('swap_horiz', 'flows.both');
  return isEnd && !isSource ? seen('arrow_back', 'flows.from') : seen('arrow_forward', 'flows.to');
}

/** The labels of how often data flows, by key. */
export function useFrequencies(): { key: string; label: string }[] {
  const { label } = useMetamodel();
  const { data } = useQuery({
    queryKey: ['settings', 'flow-frequencies'],
    queryFn: ({ signal }) => call(readFlowFrequencies({ signal })),
  });
  return (data?.frequencies ?? []).map((one) => ({ key: one.key, label: label(one) }));
}
