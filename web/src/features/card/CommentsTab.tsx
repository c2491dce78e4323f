import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  answer,
  call,
  createComment,
  deleteComment,
  editComment,
  type ListCommentsResponse,
  listComments,
} from '#client';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { Markdown } from '../../kit/Markdown.tsx';
import { MentionField } from '../../kit/MentionField.tsx';
import { Avatar } from '../../kit/marks.tsx';
import { fromMarkup, type Mentioned, toMarkup } from '../../kit/mentions.ts';
import { useTexts } from '../../kit/messages.tsx';
import { PersonName } from '../../kit/PersonName.tsx';
import { useReason } from '../../kit/reasons.ts';
import { useMe } from '../../shell/queries.ts';
import { useCard } from './context.tsx';
import styles from './tabs.module.css';

type Comment = Required<ListCommentsResponse['items'][number]>;

const PAGE = 30;

/** What people say about the card: threads, the newest first. */
export function CommentsTab() {
  const t = useTexts();
  const { card, can, act } = useCard();
  const { data, hasNextPage, fetchNextPage, isPending } = useInfiniteQuery({
    queryKey: ['card', card.id, 'comments'],
    queryFn: ({ signal, pageParam: cursor }) =>
      call(
        listComments({
          signal,
          path: { id: card.id },
          query: { cursor, page_size: PAGE, sort_by: 'created_at', sort_dir: 'desc' },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const threads = (data?.pages ?? []).flatMap(({ items }) => items as Comment[]);
  return (
    <div className={styles.narrow} aria-busy={isPending}>
      {can('create_comments') && (
        <Composer
          label={t('comments.write')}
          send={t('comments.send')}
          onSend={(content) =>
            act(
              t('comments.sent'),
              async () => (await answer(createComment({ path: { id: card.id }, body: { content } }))).headers,
            )
          }
        />
      )}
      {!isPending && threads.length === 0 && (
        <p className={styles.empty}>{t(can('create_comments') ? 'comments.none' : 'comments.noneRead')}</p>
      )}
      {threads.map((thread) => (
        <section key={thread.id} className={styles.thread}>
          <CommentItem comment={thread} />
        </section>
      ))}
      {hasNextPage && (
        <Button variant="default" onClick={() => void fetchNextPage()}>
          {t('card.loadMore')}
        </Button>
      )}
    </div>
  );
}

/** A comment with its replies. */
function CommentItem({ comment }: { comment: Comment }) {
  const t = useTexts();
  const reasonOf = useReason();
  const format = useFormat();
  const me = useMe();
  const { card, can, act } = useCard();
  const [mode, setMode] = useState<'reply' | 'edit'>();
  const isOwn = comment.user_id === me.id;
  const mayChange = !comment.is_deleted && (can('manage_comments') || (isOwn && can('create_comments')));
  const close = () => setMode(undefined);
  const remove = async () => {
    try {
      await act(
        t('comments.deleted'),
        async () => (await answer(deleteComment({ path: { id: comment.id } }))).headers,
      );
    } catch (failed) {
      notifications.show({ color: 'red', message: reasonOf(failed) });
    }
  };
  const reply = (content: string) =>
    act(t('comments.sent'), async () => {
      const body = { content, parent_id: comment.id };
      return (await answer(createComment({ path: { id: card.id }, body }))).headers;
    });
  const edit = (content: string) =>
    act(
      t('comments.changed'),
      async () => (await answer(editComment({ path: { id: comment.id }, body: { content } }))).headers,
    );
  return (
    <article className={styles.comment}>
      <Avatar name={comment.user_display_name} size={28} />
      <div className={styles.commentBody}>
        <div className={styles.commentHead}>
          <strong>
            <PersonName id={comment.user_id} name={comment.user_display_name} />
          </strong>
          <span className={styles.when} title={format.time(comment.created_at)}>
            {format.ago(comment.created_at)}
            {comment.updated_at !== comment.created_at && ` · ${t('comments.edited')}`}
          </span>
          {mayChange && (
            <Menu position="bottom-end">
              <Menu.Target>
                <button type="button" className={styles.iconButton} aria-label={t('comments.more')}>
                  <Icon name="more_horiz" />
                </button>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item leftSection={<Icon name="edit" />} onClick={() => setMode('edit')}>
                  {t('action.edit')}
                </Menu.Item>
                <Menu.Item color="red" leftSection={<Icon name="delete" />} onClick={() => void remove()}>
                  {t('card.delete')}
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          )}
        </div>
        {mode === 'edit' ? (
          <Composer
            label={t('comments.edit')}
            send={t('action.save')}
            content={comment.content}
            onSend={async (content) => {
              await edit(content);
              close();
            }}
            onCancel={close}
          />
        ) : comment.is_deleted ? (
          <p className="muted">{t('comments.gone')}</p>
        ) : (
          <Markdown text={comment.content} />
        )}
        {can('create_comments') && mode === undefined && (
          <button type="button" className={styles.textButton} onClick={() => setMode('reply')}>
            {t('comments.reply')}
          </button>
        )}
        {comment.replies.map((one) => (
          <CommentItem key={one.id} comment={one as Comment} />
        ))}
        {mode === 'reply' && (
          <Composer
            label={t('comments.reply')}
            send={t('comments.reply')}
            onSend={async (content) => {
              await reply(content);
              close();
            }}
            onCancel={close}
          />
        )}
      </div>
    </article>
  );
}

interface ComposerProps {
  label: string;
  send: string;
  /** The stored text that is changed. */
  content?: string;
  onSend(content: string): Promise<void>;
  onCancel?: () => void;
}

function Composer({ label, send, content, onSend, onCancel }: ComposerProps) {
  const t = useTexts();
  const reasonOf = useReason();
  const [draft, setDraft] = useState(() => fromMarkup(content ?? ''));
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { text, people } = draft;
  const isOpen = text !== '' || onCancel !== undefined;
  const submit = async () => {
    if (text.trim() === '' || isBusy) return;
    setBusy(true);
    try {
      await onSend(toMarkup(text.trim(), people));
      setDraft({ text: '', people: [] });
      setError(undefined);
    } catch (failed) {
      setError(reasonOf(failed));
    }
    setBusy(false);
  };
  return (
    <div className={styles.composer}>
      <MentionField
        label={label}
        placeholder={t('comments.placeholder')}
        value={text}
        error={error}
        autoFocus={onCancel !== undefined}
        onChange={(next) => setDraft((before) => ({ ...before, text: next }))}
        onMention={(person: Mentioned) =>
          setDraft((before) => ({ ...before, people: [...before.people, person] }))
        }
        onSubmit={() => void submit()}
        {...(onCancel && { onCancel })}
      />
      {isOpen && (
        <div className={styles.composerFoot}>
          <span className="secondary">{t('comments.help')}</span>
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              {t('action.cancel')}
            </Button>
          )}
          <Button onClick={() => void submit()} loading={isBusy} disabled={text.trim() === ''}>
            {send}
          </Button>
        </div>
      )}
    </div>
  );
}
