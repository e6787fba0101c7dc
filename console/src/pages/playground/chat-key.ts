import { useState } from 'react';

interface ChatKey {
  key: number;
  /** Called by a chat that has created its thread: it stays when the address names that thread. */
  keep: (thread: string) => void;
  /** Replaces the chat of no thread. */
  renew: () => void;
}

/**
 * The key of the chat of a thread, from the address. Another thread has another chat, so that a run, an error or a text that
 * belongs to one thread is never used on another.
 */
export function useChatKey(thread: string | undefined): ChatKey {
  const [chat, setChat] = useState<{ key: number; thread?: string; created?: string }>({ key: 0, thread });
  if (chat.thread !== thread) {
    const isCreated = thread !== undefined && thread === chat.created;
    setChat({ key: isCreated ? chat.key : chat.key + 1, thread });
  }
  return {
    key: chat.key,
    keep: (created) => setChat((before) => ({ ...before, created })),
    renew: () => setChat((before) => ({ ...before, key: before.key + 1 })),
  };
}
