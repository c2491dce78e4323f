import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { Card, CardOverview } from '#client';
import { useConflict } from '../../kit/Conflict.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { type CardPatch, saveCard } from '../../kit/saveCard.ts';
import { useUndoToast } from '../../kit/undo.tsx';
import { useRefresh } from './queries.ts';

/** What a person may do on a card; the names are those of the service. */
type Right =
  | 'edit'
  | 'archive'
  | 'delete'
  | 'approval_status'
  | 'manage_stakeholders'
  | 'manage_relations'
  | 'manage_documents'
  | 'manage_comments'
  | 'create_comments'
  | 'manage_adr_links'
  | 'manage_diagram_links'
  | 'view_costs';

interface CardScope {
  overview: CardOverview;
  card: Card;
  /** The day of the past that is shown. */
  asOf: string | undefined;
  /** Whether the person may do it now: nothing changes in the past, and archived cards are only restored or deleted. */
  can(right: Right): boolean;
  /**
   * Changes the card and offers to undo it.
   * @param what the name of what changes, for the message.
   * @param seen the card when the edit began.
   * @throws ApiError with the reason at the field.
   */
  change(what: string, patch: CardPatch, seen: Card): Promise<void>;
  /**
   * Runs other writes, shows what was done with a way back, and reads the card again. Several writes send the id of the
   * action as `X-Action-Id`, so that they are taken back together.
   */
  act(done: string, write: (action: { 'X-Action-Id': string }) => Promise<Headers>): Promise<void>;
}

const Context = createContext<CardScope | undefined>(undefined);

const alsoArchived: readonly Right[] = ['archive', 'delete', 'view_costs'];

interface CardProviderProps {
  overview: CardOverview;
  asOf?: string | undefined;
  children: ReactNode;
}

/** The card of a page or panel, for its parts. */
export function CardProvider({ overview, asOf, children }: CardProviderProps) {
  const t = useTexts();
  const showUndo = useUndoToast();
  const refresh = useRefresh();
  const { card, permissions } = overview;
  const { ask, dialog } = useConflict(card.type);
  const scope = useMemo(
    (): CardScope => ({
      overview,
      card,
      asOf,
      can: (right) =>
        Boolean(permissions?.effective?.[`can_${right}`]) &&
        (asOf === undefined || right === 'view_costs') &&
        (card.status === 'ACTIVE' || alsoArchived.includes(right)),
      change: async (what, patch, seen) => {
        const batch = await saveCard(card.id, seen, patch, ask);
        await refresh();
        if (batch) showUndo(t('card.changed', { field: what }), batch);
      },
      act: async (done, write) => {
        const headers = await write({ 'X-Action-Id': crypto.randomUUID() });
        await refresh();
        showUndo(done, headers.get('x-mutation-batch'));
      },
    }),
    [overview, card, asOf, permissions, ask, refresh, showUndo, t],
  );
  return (
    <Context value={scope}>
      {children}
      {dialog}
    </Context>
  );
}

export function useCard(): CardScope {
  const found = useContext(Context);
  if (!found) throw new Error('used outside of CardProvider');
  return found;
}
