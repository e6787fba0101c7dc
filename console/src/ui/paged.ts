import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useCallback } from 'react';

interface Page<Item> {
  items: Item[];
  total: number;
}

interface Paged<Item> {
  rows: Item[];
  total: number | undefined;
  error: unknown;
  isLoading: boolean;
  refetch: () => void;
  /** Asks for the next page, if there is one and none is being read. */
  more: () => void;
}

/**
 * A list that is read page by page as it is scrolled. `read` gets the offset of the page; `refetchMs` repeats what is loaded.
 */
export function usePaged<Item>(
  queryKey: unknown[],
  read: (offset: number) => Promise<Page<Item>>,
  { refetchMs, enabled = true }: { refetchMs?: number; enabled?: boolean } = {},
): Paged<Item> {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => {
      const loaded = pages.reduce((sum, { items }) => sum + items.length, 0);
      return last.items.length > 0 && loaded < last.total ? loaded : undefined;
    },
    placeholderData: keepPreviousData,
    enabled,
    ...(refetchMs !== undefined && { refetchInterval: refetchMs }),
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return {
    rows: query.data?.pages.flatMap(({ items }) => items) ?? [],
    total: query.data?.pages.at(-1)?.total,
    error: query.error,
    isLoading: query.isLoading,
    refetch: () => void query.refetch(),
    more,
  };
}
