import { Button, FileButton, Group, Select, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type DragEvent, useState } from 'react';
import {
  addDocument,
  answer,
  call,
  createFileTicket,
  deleteFile,
  type ListDocumentsResponse,
  type ListFilesResponse,
  listDocuments,
  listFiles,
  removeDocument,
  uploadFile,
} from '#client';
import { useFormat } from '../../kit/format.ts';
import { useSubmit } from '../../kit/forms.ts';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { useReason } from '../../kit/reasons.ts';
import { useBootstrap } from '../../shell/queries.ts';
import { useCard } from './context.tsx';
import styles from './tabs.module.css';

type LinkItem = Required<ListDocumentsResponse['items'][number]>;
type FileItem = Required<ListFilesResponse['items'][number]>;

const PAGE = 50;

/** Links and files of the card. */
export function ResourcesTab() {
  return (
    <div className={styles.narrow}>
      <Links />
      <Files />
    </div>
  );
}

/** The kinds of links or the categories of files that the workspace uses. */
function useKinds(kind: 'link_type' | 'file_category') {
  const { resource_types } = useBootstrap();
  const { label } = useMetamodel();
  const all = resource_types.filter((one) => one.kind === kind);
  return {
    data: all.filter(({ is_enabled }) => is_enabled).map((one) => ({ value: one.key, label: label(one) })),
    of: (key: string | null) => all.find((one) => one.key === key),
    labelOf: (key: string | null) => {
      const found = all.find((one) => one.key === key);
      return found ? label(found) : (key ?? '');
    },
  };
}

function useTell() {
  const reasonOf = useReason();
  return async (run: () => Promise<void>) => {
    try {
      await run();
    } catch (failed) {
      notifications.show({ color: 'red', message: reasonOf(failed) });
    }
  };
}

function Links() {
  const t = useTexts();
  const { card, can, act } = useCard();
  const tell = useTell();
  const kinds = useKinds('link_type');
  const [isOpen, setOpen] = useState(false);
  const { data, hasNextPage, fetchNextPage, isPending } = useInfiniteQuery({
    queryKey: ['card', card.id, 'documents'],
    queryFn: ({ signal, pageParam: cursor }) =>
      call(listDocuments({ signal, path: { id: card.id }, query: { cursor, page_size: PAGE } })),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const links = (data?.pages ?? []).flatMap(({ items }) => items as LinkItem[]);
  return (
    <section className={styles.box} aria-label={t('links.title')} aria-busy={isPending}>
      <h2 className={styles.heading}>
        {t('links.title')}
        {can('manage_documents') && (
          <Button
            size="compact-xs"
            variant="default"
            className={styles.right}
            leftSection={<Icon name="add_link" size={14} />}
            onClick={() => setOpen(true)}
          >
            {t('links.add')}
          </Button>
        )}
      </h2>
      {isOpen && <LinkForm onDone={() => setOpen(false)} />}
      {!isPending && links.length === 0 && !isOpen && <p className="muted">{t('links.none')}</p>}
      <ul className={styles.list}>
        {links.map(({ id, name, url, type }) => (
          <li key={id} className={styles.item}>
            <Icon name={kinds.of(type)?.icon ?? 'link'} size={18} />
            <div className={styles.itemText}>
              {url && /^(https?:|mailto:)/i.test(url) ? (
                <a href={url} target="_blank" rel="noopener noreferrer" className={styles.link}>
                  {name}
                </a>
              ) : (
                <span>{name}</span>
              )}
              <span className="secondary">
                {kinds.labelOf(type)}
                {url && ` · ${url.replace(/^https?:\/\//, '')}`}
              </span>
            </div>
            {can('manage_documents') && (
              <button
                type="button"
                className={styles.iconButton}
                aria-label={t('links.remove', { name })}
                onClick={() =>
                  void tell(() =>
                    act(
                      t('links.removed', { name }),
                      async () => (await answer(removeDocument({ path: { id } }))).headers,
                    ),
                  )
                }
              >
                <Icon name="delete" />
              </button>
            )}
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <Button variant="default" onClick={() => void fetchNextPage()}>
          {t('card.loadMore')}
        </Button>
      )}
    </section>
  );
}

function LinkForm({ onDone }: { onDone(): void }) {
  const t = useTexts();
  const { card, act } = useCard();
  const kinds = useKinds('link_type');
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [type, setType] = useState<string | null>(null);
  const submit = useSubmit(
    () =>
      act(t('links.added', { name }), async () => {
        const body = { name: name.trim(), url: url.trim(), ...(type && { type }) };
        return (await answer(addDocument({ path: { id: card.id }, body }))).headers;
      }),
    onDone,
  );
  return (
    <form onSubmit={submit.submit} className={styles.form}>
      <TextInput
        label={t('links.url')}
        autoFocus
        placeholder="https://"
        value={url}
        error={submit.errorOf('url')}
        onChange={(event) => setUrl(event.target.value)}
      />
      <TextInput
        label={t('field.name')}
        value={name}
        error={submit.errorOf('name')}
        onChange={(event) => setName(event.target.value)}
      />
      <Select label={t('links.type')} data={kinds.data} value={type} clearable onChange={setType} />
      {submit.failure && (
        <p className={styles.failure} role="alert">
          {submit.failure}
        </p>
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onDone}>
          {t('action.cancel')}
        </Button>
        <Button type="submit" loading={submit.isBusy} disabled={name.trim() === '' || url.trim() === ''}>
          {t('links.add')}
        </Button>
      </Group>
    </form>
  );
}

/** Kinds that the service takes; it checks the content. */
const ACCEPT = '.pdf,.docx,.xlsx,.pptx,.png,.jpg,.jpeg,.svg,.txt';

function Files() {
  const t = useTexts();
  const { file_uploads_enabled } = useBootstrap();
  const { card, can, act } = useCard();
  const tell = useTell();
  const kinds = useKinds('file_category');
  const [category, setCategory] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const { data, hasNextPage, fetchNextPage, isPending } = useInfiniteQuery({
    queryKey: ['card', card.id, 'files'],
    queryFn: ({ signal, pageParam: cursor }) =>
      call(listFiles({ signal, path: { id: card.id }, query: { cursor, page_size: PAGE } })),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const files = (data?.pages ?? []).flatMap(({ items }) => items as FileItem[]);
  const mayUpload = file_uploads_enabled && can('manage_documents');
  const upload = async (some: readonly File[]) => {
    setBusy(true);
    for (const file of some)
      await tell(() =>
        act(t('files.added', { name: file.name }), async () => {
          const body = { file, ...(category && { category }) };
          return (await answer(uploadFile({ path: { id: card.id }, body }))).headers;
        }),
      );
    setBusy(false);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    if (mayUpload) void upload([...event.dataTransfer.files]);
  };
  return (
    <section
      className={styles.box}
      aria-label={t('files.title')}
      aria-busy={isPending || isBusy}
      onDragOver={(event) => event.preventDefault()}
      onDrop={onDrop}
    >
      <h2 className={styles.heading}>
        {t('files.title')}
        {mayUpload && (
          <Group gap="xs" className={styles.right}>
            {kinds.data.length > 0 && (
              <Select
                aria-label={t('files.category')}
                placeholder={t('files.category')}
                data={kinds.data}
                value={category}
                clearable
                w={160}
                onChange={setCategory}
              />
            )}
            <FileButton multiple accept={ACCEPT} onChange={(some) => void upload(some)}>
              {(props) => (
                <Button {...props} variant="default" loading={isBusy} leftSection={<Icon name="upload" />}>
                  {t('files.upload')}
                </Button>
              )}
            </FileButton>
          </Group>
        )}
      </h2>
      {!isPending && files.length === 0 && (
        <p className="muted">{t(mayUpload ? 'files.none' : 'files.noneRead')}</p>
      )}
      <ul className={styles.list}>
        {files.map((file) => (
          <FileRow key={file.id} file={file} />
        ))}
      </ul>
      {hasNextPage && (
        <Button variant="default" onClick={() => void fetchNextPage()}>
          {t('card.loadMore')}
        </Button>
      )}
    </section>
  );
}

function FileRow({ file }: { file: FileItem }) {
  const t = useTexts();
  const format = useFormat();
  const { can, act } = useCard();
  const tell = useTell();
  const kinds = useKinds('file_category');
  const { id, name, size, category: kind, created_at, created_by_name } = file;
  const download = () =>
    tell(async () => {
      const { ticket } = await call(createFileTicket({ path: { id } }));
      window.location.assign(`/api/v1/file-attachments/${id}/download?ticket=${encodeURIComponent(ticket)}`);
    });
  return (
    <li className={styles.item}>
      <Icon name="description" size={18} />
      <div className={styles.itemText}>
        <button type="button" className={styles.linkButton} onClick={() => void download()}>
          {name}
        </button>
        <span className="secondary">
          {[kinds.labelOf(kind), format.size(size), created_by_name, format.ago(created_at)]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </div>
      <button
        type="button"
        className={styles.iconButton}
        aria-label={t('files.download', { name })}
        onClick={() => void download()}
      >
        <Icon name="download" />
      </button>
      {can('manage_documents') && (
        <button
          type="button"
          className={styles.iconButton}
          aria-label={t('files.remove', { name })}
          onClick={() =>
            void tell(() =>
              act(
                t('files.removed', { name }),
                async () => (await answer(deleteFile({ path: { id } }))).headers,
              ),
            )
          }
        >
          <Icon name="delete" />
        </button>
      )}
    </li>
  );
}
