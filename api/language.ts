import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedLanguages, chooseLanguage } from '../domain/kernel/metamodel/languages.ts';

/**
 * The language in which labels are answered: the first of `Accept-Language` that something is translated to. Says so
 * in the answer, whose ETag differs by it.
 */
export function negotiateLanguage(
  request: FastifyRequest,
  reply: FastifyReply,
  translated: ReadonlySet<string>,
): string {
  const language = chooseLanguage(acceptedLanguages(request.headers['accept-language']), translated);
  const vary = reply.getHeader('vary');
  reply
    .header('content-language', language)
    .header('vary', vary === undefined ? 'Accept-Language' : `${vary}, Accept-Language`);
  return language;
}
