import { type RefCallback, useCallback, useEffect, useRef } from 'react';

/** Distance from the end in pixels within which a reader who scrolls down has reached it. */
const NEAR_PX = 80;
/** Distance from the end in pixels that rounding may leave. */
const ROUNDING_PX = 4;

/**
 * Keeps the element that scrolls, which gets the ref, at its end while its content grows. It stops when the reader scrolls up
 * or clicks into the content, which may open something there, and resumes at the end, or with the next stream.
 */
export function useFollowedEnd(isStreaming: boolean): RefCallback<HTMLElement> {
  const resume = useRef<() => void>(undefined);
  useEffect(() => {
    if (isStreaming) resume.current?.();
  }, [isStreaming]);
  return useCallback((place: HTMLElement | null) => {
    if (!place) return;
    let isFollowing = true;
    let lastTop = 0;
    const follow = (): void => {
      if (isFollowing) place.scrollTop = place.scrollHeight;
    };
    resume.current = () => {
      isFollowing = true;
      follow();
    };
    const onScroll = (): void => {
      const distance = place.scrollHeight - place.scrollTop - place.clientHeight;
      // The distance is large also where content has grown since it was last followed: only a reader scrolls up.
      if (place.scrollTop < lastTop) isFollowing = distance <= ROUNDING_PX;
      else if (distance <= NEAR_PX) isFollowing = true;
      lastTop = place.scrollTop;
    };
    const onClick = (): void => {
      isFollowing = false;
    };
    const observer = new ResizeObserver(follow);
    observer.observe(place);
    for (const child of place.children) observer.observe(child);
    place.addEventListener('scroll', onScroll, { passive: true });
    place.addEventListener('click', onClick);
    return () => {
      observer.disconnect();
      place.removeEventListener('scroll', onScroll);
      place.removeEventListener('click', onClick);
      resume.current = undefined;
    };
  }, []);
}
