import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { Icon } from '../kit/Icon.tsx';
import { useTexts } from '../kit/messages.tsx';
import { usePaletteSections } from './palette.items.tsx';
import styles from './palette.module.css';

interface PaletteFieldProps {
  /** What was typed before the field had the focus. */
  early: RefObject<string>;
  onClose(): void;
}

/** The field of the palette, and what it finds by kind. */
export function PaletteField({ early, onClose }: PaletteFieldProps) {
  const t = useTexts();
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const sections = usePaletteSections(text, onClose);
  const items = sections.flatMap((section) => section.items);
  const chosen = Math.min(at, items.length - 1);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    list.current?.querySelectorAll('[role=option]')[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
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
          ref={field}
          data-autofocus
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onFocus={() => {
            setText((before) => before + early.current);
            early.current = '';
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
      <div className={styles.items} ref={list} id="palette" role="listbox" aria-label={t('nav.search')}>
        {sections.map((section) => (
          <div key={section.title} role="group" aria-label={section.title}>
            <div className={styles.heading} aria-hidden="true">
              {section.title}
            </div>
            {section.items.map((item) => {
              const index = items.indexOf(item);
              return (
                <div
                  key={item.id}
                  id={`palette-${item.id}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === chosen}
                  className={styles.item}
                  onClick={item.go}
                  onKeyDown={undefined}
                  onMouseMove={() => setAt(index)}
                >
                  {item.mark}
                  <span className={styles.text}>{item.text}</span>
                  {item.note && <span className={styles.note}>{item.note}</span>}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {items.length === 0 && <p className={styles.none}>{t('palette.none')}</p>}
    </>
  );
}
