import { Modal } from '@mantine/core';
import { useDebouncedValue, useDisclosure, useHotkeys } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { call, listCards } from '#client';
import { Icon } from '../kit/Icon.tsx';
import { TypeMark } from '../kit/marks.tsx';
import { useTexts } from '../kit/messages.tsx';
import { useMetamodel } from '../kit/metamodel.tsx';
import styles from './palette.module.css';

/** Opens the palette by Ctrl-K. */
export function usePalette() {
  const [isOpen, { open, close, toggle }] = useDisclosure(false);
  useHotkeys([['mod+K', toggle]], []);
  return { isOpen, open, close };
}

/** How long nothing is typed before the service is asked, in milliseconds. */
const REST_MS = 50;

interface Item {
  id: string;
  mark: ReactNode;
  text: string;
  note?: string;
  go(): void;
}

/** One field that finds cards and areas. */
export function Palette({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const t = useTexts();
  return (
    <Modal.Root opened={isOpen} onClose={onClose} padding={0} size={560} yOffset="12vh" centered={false}>
      <Modal.Overlay />
      <Modal.Content aria-label={t('nav.search')}>
        <PaletteField onClose={onClose} />
      </Modal.Content>
    </Modal.Root>
  );
}

function PaletteField({ onClose }: { onClose(): void }) {
  const t = useTexts();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const items = useItems(text, onClose);
  const chosen = Math.min(at, items.length - 1);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((chosen + step + items.length) % Math.max(1, items.length));
    } else if (event.key === 'Enter') items[chosen]?.go();
  };
  return (
    <>
      <div className={styles.field}>
        <Icon name="search" size={18} />
        <input
          data-autofocus
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
          placeholder={t('palette.placeholder')}
          aria-label={t('nav.search')}
          role="combobox"
          aria-expanded="true"
          aria-controls="palette"
          aria-activedescendant={items[chosen] && `palette-${items[chosen].id}`}
        />
      </div>
      <div className={styles.items} id="palette" role="listbox" aria-label={t('nav.search')}>
        {items.map(({ id, mark, text: label, note, go }, index) => (
          <div
            key={id}
            id={`palette-${id}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className={styles.item}
            onClick={go}
            onKeyDown={undefined}
            onMouseMove={() => setAt(index)}
          >
            {mark}
            <span>{label}</span>
            {note && <span className="secondary">{note}</span>}
          </div>
        ))}
        {items.length === 0 && <p className={styles.none}>{t('palette.none')}</p>}
      </div>
    </>
  );
}

function useItems(text: string, onClose: () => void): Item[] {
  const t = useTexts();
  const navigate = useNavigate();
  const { type, label } = useMetamodel();
  const [search] = useDebouncedValue(text.trim(), REST_MS);
  const { data } = useQuery({
    queryKey: ['cards', 'palette', search],
    queryFn: ({ signal }) =>
      call(
        listCards({ signal, query: { search, page_size: 10, fields: 'id,type,name', sort_by: 'relevance' } }),
      ),
    enabled: search !== '',
    placeholderData: keepPreviousData,
  });
  const leave = (go: () => Promise<void>) => () => {
    onClose();
    void go();
  };
  const cards = search === '' ? [] : (data?.items ?? []);
  const areas = [
    { id: 'home', icon: 'home', text: t('nav.home'), go: () => navigate({ to: '/' }) },
    {
      id: 'inventory',
      icon: 'table',
      text: t('nav.inventory'),
      go: () => navigate({ to: '/inventory', search: {} }),
    },
    {
      id: 'reports',
      icon: 'bar_chart',
      text: t('nav.reports'),
      go: () => navigate({ to: '/reports/$', params: { _splat: '' }, search: {} }),
    },
    { id: 'me', icon: 'person', text: t('nav.profile'), go: () => navigate({ to: '/me' }) },
  ].filter((area) => area.text.toLowerCase().includes(text.trim().toLowerCase()));
  return [
    ...cards.map((card): Item => {
      const found = type(card.type!);
      return {
        id: card.id!,
        mark: <TypeMark type={card.type!} />,
        text: card.name!,
        note: found ? label(found) : card.type!,
        go: leave(() => navigate({ to: '/cards/$id', params: { id: card.id! } })),
      };
    }),
    ...areas.map(
      ({ id, icon, text: name, go }): Item => ({
        id,
        mark: <Icon name={icon} size={18} />,
        text: name,
        go: leave(go),
      }),
    ),
  ];
}
