import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { call, listCards, listUsers } from '#client';
import { isAllowed, useMe } from '../shell/queries.ts';
import { Avatar, TypeMark } from './marks.tsx';
import { useTexts } from './messages.tsx';
import { Picker, type PickerProps } from './Picker.tsx';
import styles from './picker.module.css';

const InviteDialog = lazy(async () => ({ default: (await import('./InviteDialog.tsx')).InviteDialog }));

type Own = 'queryKey' | 'read' | 'idOf' | 'textOf' | 'children' | 'onPick';
type Common = Omit<PickerProps<never>, Own | 'isHidden'>;

/** A card as finders name it. */
export interface PickedCard {
  id: string;
  name: string;
  type: string;
}

/** The name and type of a card; undefined until it is known, or without an id. */
export function useCardName(id: string | undefined): PickedCard | undefined {
  const { data } = useQuery({
    queryKey: ['cards', 'name', id],
    queryFn: ({ signal }) =>
      call(listCards({ signal, query: { ids: id!, fields: 'id,name,type', page_size: 1 } as never })),
    enabled: id !== undefined,
  });
  return data?.items[0] as PickedCard | undefined;
}

interface CardFinderProps extends Common {
  /** Keys of the types; all without any. */
  types: readonly string[];
  /** Ids of cards that are not offered. */
  except?: ReadonlySet<string>;
  /** The id of the present choice, whose name is read. */
  value?: string | undefined;
  onPick(card: PickedCard): void;
}

/** Finds an active card by name, with the place of each in its hierarchy. */
export function CardFinder({ types, except, value, chosen, onPick, ...common }: CardFinderProps) {
  const name = useCardName(value)?.name;
  return (
    <Picker
      {...common}
      chosen={chosen ?? name}
      queryKey={['cards', types]}
      read={({ search, ...page }, signal) =>
        call(
          listCards({
            signal,
            query: {
              ...page,
              ...(search && { search }),
              ...(types.length > 0 && { type: types.join(',') }),
              sort_by: search ? 'relevance' : 'name',
              fields: 'id,type,name,path',
            },
          }),
        )
      }
      idOf={(card) => card.id!}
      textOf={(card) => card.name!}
      isHidden={(card) => except?.has(card.id!) ?? false}
      onPick={(card) => onPick(card as PickedCard)}
    >
      {(card) => (
        <>
          <TypeMark type={card.type!} size={18} />
          <span>
            {card.name}
            {card.path && card.path.length > 0 && (
              <span className={styles.note}> {card.path.map(({ name: above }) => above).join(' / ')}</span>
            )}
          </span>
        </>
      )}
    </Picker>
  );
}

/** A person that can be chosen. */
interface PickedPerson {
  id: string;
  display_name: string;
  email: string;
}

interface PersonFinderProps extends Common {
  except?: ReadonlySet<string>;
  onPick(person: PickedPerson): void;
}

/** Finds a person with an active account by name or mail; those who may invite somebody who is not found. */
export function PersonFinder({ except, onPick, onCancel, ...common }: PersonFinderProps) {
  const t = useTexts();
  const { permissions } = useMe();
  const [invited, setInvited] = useState<string>();
  const mayInvite = isAllowed(permissions, 'admin.users') || isAllowed(permissions, 'users.invite');
  return (
    <>
      <Picker
        {...common}
        // the dialog takes the focus, which is no reason to leave
        onCancel={invited === undefined ? onCancel : undefined}
        {...(mayInvite && {
          onCreate: setInvited,
          createText: (searched: string) => t('invite.offer', { searched }),
        })}
        queryKey={['users']}
        read={({ search, ...page }, signal) =>
          call(
            listUsers({
              signal,
              query: { ...page, ...(search && { search }), kind: 'person', sort_by: 'display_name' },
            }),
          )
        }
        idOf={(person) => person.id!}
        textOf={(person) => person.display_name!}
        isHidden={(person) => except?.has(person.id!) ?? false}
        onPick={(person) => onPick(person as PickedPerson)}
      >
        {(person) => (
          <>
            <Avatar name={person.display_name!} size={20} />
            <span>
              {person.display_name} <span className={styles.note}>{person.email}</span>
            </span>
          </>
        )}
      </Picker>
      {invited !== undefined && (
        <Suspense>
          <InviteDialog
            searched={invited}
            onInvited={(person) => {
              setInvited(undefined);
              onPick(person);
            }}
            onClose={() => {
              setInvited(undefined);
              onCancel?.();
            }}
          />
        </Suspense>
      )}
    </>
  );
}
