import { createElement, type ReactNode } from 'react';
import styles from './markdown.module.css';

/** Addresses that links may lead to. */
const SAFE = /^(https?:|mailto:)/i;

const inline =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|(?<![\w*])[*_]([^*_\n]+)[*_](?![\w*])|@\[([^\]\n]+)\]\(user:([0-9a-f-]+)\)|\[([^\]\n]+)\]\(([^)\s]+)\)|(https?:\/\/[^\s<>()]+)/g;

/** Text in a small part of Markdown: paragraphs, lists, quotes, bold, italic, code, links, mentions. Never HTML. */
export function Markdown({ text }: { text: string }) {
  return <div className={styles.text}>{text.split(/\n{2,}/).map((block, at) => blockOf(block, at))}</div>;
}

function blockOf(block: string, key: number): ReactNode {
  const lines = block.split('\n').filter((line) => line !== '');
  const has = (mark: RegExp) => lines.length > 0 && lines.every((line) => mark.test(line));
  const list = (tag: 'ul' | 'ol', mark: RegExp) =>
    createElement(
      tag,
      { key },
      ...lines.map((line) => createElement('li', null, ...inlineOf(line.replace(mark, '')))),
    );
  if (has(/^\s*[-*] /)) return list('ul', /^\s*[-*] /);
  if (has(/^\s*\d+[.)] /)) return list('ol', /^\s*\d+[.)] /);
  if (has(/^>/))
    return createElement('blockquote', { key }, ...linesOf(lines.map((line) => line.replace(/^> ?/, ''))));
  return createElement('p', { key }, ...linesOf(lines));
}

const linesOf = (lines: readonly string[]): ReactNode[] =>
  lines.flatMap((line, at) => [
    ...(at > 0 ? [<br key={`line ${line}`} />] : []),
    ...inlineOf(line.replace(/^#{1,6} /, '')),
  ]);

function inlineOf(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(inline)) {
    const [whole, code, bold, italic, person, , label, address, plain] = match;
    parts.push(text.slice(end, match.index));
    end = match.index + whole.length;
    const key = match.index;
    const href = address ?? plain;
    if (code !== undefined) parts.push(<code key={key}>{code}</code>);
    else if (bold !== undefined) parts.push(<strong key={key}>{bold}</strong>);
    else if (italic !== undefined) parts.push(<em key={key}>{italic}</em>);
    else if (person !== undefined)
      parts.push(
        <span key={key} className={styles.person}>
          @{person}
        </span>,
      );
    else if (href !== undefined && SAFE.test(href))
      parts.push(
        <a key={key} href={href} target="_blank" rel="noopener noreferrer">
          {label ?? href}
        </a>,
      );
    else parts.push(whole);
  }
  parts.push(text.slice(end));
  return parts;
}
